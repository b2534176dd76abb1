import type { RecordedRun } from "./live-run.ts"
import { type RunStore, serverErrors, type UnrecordedRun } from "./runs.ts"

const limits = {
  /** How many are kept; of further ones only their number is known. */
  runsMax: 100_000,
  /** Runs per transaction. */
  batchMax: 500,
}

const { unrecorded: error } = serverErrors

/**
 * Runs whose records were discarded, or dropped in an outage. On disk they are still queued or running,
 * and this node lives, so no other one takes them: they are ended here, as if the node had died, as
 * soon as the database accepts that.
 */
export class UnrecordedRuns {
  readonly #runs = new Map<string, UnrecordedRun>()

  get size(): number {
    return this.#runs.size
  }

  has(id: string): boolean {
    return this.#runs.has(id)
  }

  add({ id, claim, status }: RecordedRun): void {
    if (this.#runs.size >= limits.runsMax) return
    this.#runs.set(id, {
      id,
      fence: claim?.fence ?? 0,
      hasStarted: status !== "queued",
      delayMs: claim?.delayOf(claim.attempt) ?? 0,
    })
  }

  /** Forgets a run that was recorded after all, or was taken from this node. */
  delete(id: string): void {
    this.#runs.delete(id)
  }

  /** Ends them. One that cannot be ended stops none of the others, and is tried again next time. */
  async end(
    runs: Pick<RunStore, "giveUp">,
    nodeId: string,
    at: number,
    onError: (error: unknown) => void,
  ): Promise<void> {
    const all = [...this.#runs.values()]
    for (let index = 0; index < all.length; index += limits.batchMax) {
      const batch = all.slice(index, index + limits.batchMax)
      const failures = await runs.giveUp(nodeId, batch, { error, at })
      for (const { id } of batch) if (!failures.has(id)) this.#runs.delete(id)
      for (const failure of failures.values()) onError(failure)
    }
  }
}

/** The oldest ended runs that did not come through the API, as many as exceed what may wait. */
export function selectDropped(
  waiting: readonly RecordedRun[],
  {
    waitingMax,
    waitingBytesMax,
  }: { readonly waitingMax: number; readonly waitingBytesMax: number },
): ReadonlySet<RecordedRun> {
  const dropped = new Set<RecordedRun>()
  let excess = waiting.length - waitingMax
  let bytes = waiting.reduce((sum, run) => sum + run.bytes, 0)
  for (const run of waiting) {
    if (excess <= 0 && bytes <= waitingBytesMax) break
    if (run.isKept || run.endedAt === null) continue
    excess -= 1
    bytes -= run.bytes
    dropped.add(run)
  }
  return dropped
}
