import type { z } from "zod"
import type { runStatus } from "../schemas/fields.ts"
import type { logLine } from "../schemas/runs/run-records.ts"

/** An event of a followed run: a log line with its index, or the end. */
export type RunEvent =
  | { readonly kind: "log"; readonly index: number; readonly line: z.output<typeof logLine> }
  | {
      readonly kind: "end"
      readonly status: z.output<typeof runStatus>
      readonly logsTruncated: boolean
    }

/** How to follow a run. */
export interface FollowOptions {
  /** Stops following, with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** How long the server may be silent; it sends something at least every 15 seconds. */
  readonly timeoutMs?: number | undefined
}
