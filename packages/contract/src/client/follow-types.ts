import type { z } from "zod"
import type { runStatus } from "../schemas/fields.ts"
import type { logLine } from "../schemas/records.ts"

/** What a run that is followed tells: its lines with their places in its logs, and how it ended. */
export type RunEvent =
  | { readonly kind: "log"; readonly index: number; readonly line: z.output<typeof logLine> }
  | {
      readonly kind: "end"
      readonly status: z.output<typeof runStatus>
      readonly logsTruncated: boolean
    }

/** How one may follow. */
export interface FollowOptions {
  /** Ends the following, with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** How long the server may be silent: it says something at least every 15 seconds. */
  readonly timeoutMs?: number | undefined
}
