import type { ValEditing } from "./code/val-editing.ts"
import type { ValRun } from "./code/val-run.ts"
import type { ReadmeEditing } from "./readme/readme-editing.ts"

/** The properties of every tab of a val. */
export interface ValTabProps {
  readonly editing: ValEditing
  readonly readme: ReadmeEditing
  readonly run: ValRun
  /** Whether the viewer may change it. */
  readonly isOwn: boolean
  /** The path of the val without a tab. */
  readonly base: string
}
