import { CopyButton } from "../../../ui/copy-button.tsx"
import type { Val } from "./val-editing.ts"

/** Copies the line by which other vals import this one. */
export function ImportLine({ val }: { val: Val }) {
  return (
    <CopyButton
      text={`import ${val.name} from "${val.links.module}"`}
      label="Copy the import line"
    />
  )
}
