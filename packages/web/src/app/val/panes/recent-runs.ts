import type { Item } from "@hamlet/contract/client"
import { type ReadonlySignal, type Signal, signal } from "@preact/signals"
import { api } from "../../api.ts"

/** A run in a list. */
export type ListedRun = Item<"listValRuns">

const limits = { runsMax: 30 }

/** The latest runs of a val, or of one of its files, that the user may see. */
export class RecentRuns {
  readonly #runs: Signal<readonly ListedRun[]> = signal([])
  readonly #valId: string
  readonly #fileId: string | undefined
  #turn = 0

  constructor(valId: string, fileId?: string) {
    this.#valId = valId
    this.#fileId = fileId
  }

  get runs(): ReadonlySignal<readonly ListedRun[]> {
    return this.#runs
  }

  /** Fetches them again. Rejects when the server does not respond. */
  async refresh(): Promise<readonly ListedRun[]> {
    this.#turn += 1
    const turn = this.#turn
    const { data } = await api.listValRuns({
      val_id: this.#valId,
      limit: limits.runsMax,
      ...(this.#fileId === undefined ? {} : { file_id: this.#fileId }),
    })
    // A late response must not replace a newer one.
    if (turn === this.#turn) this.#runs.value = data
    return data
  }
}
