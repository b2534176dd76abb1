import type { CodeActions } from "./code/code-actions.ts"
import type { ValEditing } from "./code/val-editing.ts"
import type { ValRun } from "./code/val-run.ts"
import type { DraftMode } from "./draft-mode/draft-mode.ts"
import type { RecentRuns } from "./panes/recent-runs.ts"
import type { ValRequests } from "./preview/val-requests.ts"
import type { ValProblems } from "./problems/val-problems.ts"

/** The properties of every tab of a val. */
export interface ValTabProps {
  readonly editing: ValEditing
  readonly run: ValRun
  /** The requests to an http val from this page. */
  readonly requests: ValRequests
  readonly recent: RecentRuns
  /** The problems of all files. */
  readonly problems: ValProblems
  readonly actions: CodeActions
  readonly draftMode: DraftMode
  /** Whether the viewer may change it. */
  readonly isOwn: boolean
  /** The path of the val without a tab. */
  readonly base: string
  /** The current tab; empty for the code. */
  readonly tab: string
  /** What is shown beside the code. */
  readonly pane: "run" | "schedule" | "mail"
}
