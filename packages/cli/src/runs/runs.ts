import type { Client, Item, Output } from "@hamlet/contract/client"
import type { ExitName } from "../exit-codes.ts"
import { limits } from "../limits.ts"
import type { Colour } from "../terminal/colour.ts"

/** A run with all of its details. */
export type RunDetail = Output<"getRun">

/** A run in a list. */
export type Run = Item<"listMyRuns">

/** The status of a run. */
export type RunStatus = Run["status"]

/** The exit code for a run that ended with a status. */
export const exitByStatus: Readonly<Record<RunStatus, ExitName>> = {
  queued: "failed",
  running: "failed",
  succeeded: "ok",
  failed: "valFailed",
  crashed: "valFailed",
  timed_out: "valTimedOut",
  cancelled: "valCancelled",
}

/** The colour of a status. */
export function paintStatus(colour: Colour, status: RunStatus): (text: string) => string {
  if (status === "succeeded") return colour.green
  return status === "queued" || status === "running" ? colour.yellow : colour.red
}

/** The val and version of a run. */
export function toRunVal({ val }: Pick<Run, "val">): string {
  return `${val.username}/${val.name}@${val.version}`
}

/** A duration for people. */
export function toDuration(ms: number | null): string {
  if (ms === null) return ""
  if (ms < 1000) return `${Math.round(ms)} ms`
  return ms < 60_000
    ? `${(ms / 1000).toFixed(1)} s`
    : `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`
}

/** Gets a run whose end was announced, which happens shortly before it can be read. */
export async function getEndedRun(client: Client, id: string): Promise<RunDetail> {
  const deadlineMs = Date.now() + limits.endMsMax
  for (let waitMs = 10; ; waitMs *= 2) {
    const run = await client.getRun({ run_id: id })
    if (run.runEndAt !== null || Date.now() >= deadlineMs) return run
    await Bun.sleep(waitMs)
  }
}
