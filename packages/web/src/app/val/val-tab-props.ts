import type { ValEditing } from "./code/val-editing.ts"
import type { ValRun } from "./code/val-run.ts"
import type { ReadmeEditing } from "./readme/readme-editing.ts"

/** What every part of a val's page is given. */
export interface ValTabProps {
  readonly editing: ValEditing
  readonly readme: ReadmeEditing
  readonly run: ValRun
  /** Whether the viewer may change it. */
  readonly isOwn: boolean
  /** The address of the page without a part. */
  readonly base: string
}
