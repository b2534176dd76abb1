import type { Output } from "@hamlet/contract/client"
import { Bars } from "../../../ui/page-states.tsx"
import { api } from "../../api.ts"
import { Loaded } from "../../data/loaded.tsx"
import { useResource } from "../../data/resource.ts"
import { readChoice } from "../../parts/forms/query-choice.tsx"
import { diffLayouts, FileDiffs } from "../comparison/file-diffs.tsx"
import type { ListedBranch } from "./use-branches.ts"

type Difference = Output<"getBranchDifference">["data"][number]

/**
 * What a branch has changed: since it was made or last merged, or compared with another branch. The
 * texts come with the list, because the server has to read them to find what differs.
 */
export function BranchDifference(props: {
  readonly valId: string
  readonly branch: Pick<ListedBranch, "id" | "name">
  readonly other: Pick<ListedBranch, "id" | "name"> | undefined
  /** Another key is another state of the branches. */
  readonly loadKey: string
  /** Shown if nothing differs. */
  readonly empty: string
}) {
  const { valId, branch, other, empty } = props
  const key = `${branch.id} ${other?.id ?? ""} ${props.loadKey}`
  const { value: layout } = readChoice("layout", diffLayouts)
  const found = useResource(key, async (signal) => {
    const branches = { val_id: valId, branch_id: branch.id }
    const input = other ? { ...branches, other_branch_id: other.id } : branches
    return Array.fromAsync(api.items("getBranchDifference", input, { signal }))
  })
  const label = other ? `Changes from ${other.name} to ${branch.name}` : `Changes on ${branch.name}`
  return (
    <Loaded of={found} skeleton={<Bars count={8} />}>
      {(files) =>
        files.length === 0 ? (
          <p class="quiet">{empty}</p>
        ) : (
          <FileDiffs
            key={key}
            files={files}
            layout={layout}
            label={label}
            loadKey={key}
            load={toTexts}
          />
        )
      }
    </Loaded>
  )
}

async function toTexts({ before, after }: Difference) {
  return { before: before ?? "", after: after ?? "" }
}
