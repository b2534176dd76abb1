import { EmptyState } from "../../../ui/page-states.tsx"
import { toHrefWith } from "../../frame/location.ts"
import { mainBranch } from "../files/load-files.ts"

/** The branch in the address does not exist, or no longer. */
export function NoBranch({ name }: { name: string }) {
  return (
    <EmptyState icon="branch" title={`There is no branch ${name}`}>
      <p>
        It was deleted, or never existed.{" "}
        <a href={toHrefWith({ branch: undefined })}>Go to {mainBranch}</a>
      </p>
    </EmptyState>
  )
}
