import type { SyncEvent } from "./sync-event.ts"
import { nothingDone, type Tally, toSyncFailure } from "./sync-result.ts"

/** Dependencies of a round. */
export interface RoundDeps {
  report(event: SyncEvent): void
  /** Whether the watcher is stopping. */
  isStopping(): boolean
  /** Report what would be done, and do nothing. */
  readonly isDry?: boolean
}

/** Starts a round, whose result grows with what is done and reported. */
export function startRound<Deps extends Pick<RoundDeps, "report">>(
  deps: Deps,
): { readonly deps: Deps; readonly tally: Tally } {
  const tally: Tally = { ...nothingDone }
  const report: RoundDeps["report"] = (event) => {
    tally.hasConflict ||= event.action === "conflict"
    tally.hasMerged ||= event.action === "merged"
    deps.report(event)
  }
  return { deps: { ...deps, report }, tally }
}

/**
 * `noted` when only the record has changed; `raced` when the file or the val has changed meanwhile:
 * nothing was lost, and the next round decides again.
 */
export type StepResult = "done" | "noted" | "raced"

/** A step of a round. */
export interface RoundStep extends Pick<SyncEvent, "file" | "val"> {
  /** A val that is renamed may meet a name that is taken. */
  readonly isRename?: boolean
  /** What a dry run reports. */
  readonly planned?: SyncEvent | undefined
  /** Performed in a dry run too: it reports by itself what would be done. */
  readonly isHarmless?: boolean
  perform(): StepResult | Promise<StepResult>
}

/** Performs the steps of a round; others go on after one that fails. */
export async function performSteps(
  { report, isStopping, isDry }: RoundDeps,
  tally: Tally,
  steps: Iterable<RoundStep> | AsyncIterable<RoundStep>,
  onDone: () => void = () => {},
): Promise<void> {
  for await (const step of steps) {
    if (isStopping()) break
    if (isDry && !step.isHarmless) {
      if (step.planned) report({ ...step.planned, isPlanned: true })
      continue
    }
    try {
      const result = await step.perform()
      tally.isRaced ||= result === "raced"
      tally.hasActed ||= result === "done"
      onDone()
    } catch (error) {
      const { isRaced, isName, exit, text } = toSyncFailure(error)
      // A name taken for a new val belongs to a val that the next round sees; for a rename it is a
      // real conflict.
      if (isRaced && !(step.isRename && isName)) tally.isRaced = true
      else {
        tally.exit ??= exit
        report({ action: "problem", file: step.file, val: step.val, text })
      }
    }
  }
}
