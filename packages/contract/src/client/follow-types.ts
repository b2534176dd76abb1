import type { z } from "zod"
import type { runStatus } from "../schemas/fields.ts"
import type { accountLog, logLine, run } from "../schemas/runs/run-records.ts"

/** An event of a followed run: a log line with its index, or the end. */
export type RunEvent =
  | { readonly kind: "log"; readonly index: number; readonly line: z.output<typeof logLine> }
  | {
      readonly kind: "end"
      readonly status: z.output<typeof runStatus>
      readonly logsTruncated: boolean
    }

/**
 * An event of the runs of an account. The first one is `open`: from then on every line is sent.
 * `skipped` is the number of events that the client was too slow for.
 */
export type AccountEvent =
  | { readonly kind: "open" }
  | ({ readonly kind: "log" } & Readonly<z.output<typeof accountLog>>)
  | { readonly kind: "end"; readonly run: z.output<typeof run> }
  | { readonly kind: "skipped"; readonly events: number }

/** How to follow a run, or all runs of an account. */
export interface FollowOptions {
  /** Stops following, with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** How long the server may be silent; it sends something at least every 15 seconds. */
  readonly timeoutMs?: number | undefined
}
