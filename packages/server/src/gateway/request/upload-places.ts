import { AppError } from "../../domain/app-error.ts"
import type { GatewayLimits } from "../limits.ts"

/**
 * Counts the bodies that are on their way to a val. Each has a run, which has to wait for it:
 * without a bound of their own, clients that send half a body would take all runs that a val may
 * have.
 */
export class UploadPlaces {
  readonly #limits: Pick<GatewayLimits, "uploadsPerValMax" | "uploadsPerClientMax">
  readonly #counts = new Map<string, number>()

  constructor(limits: Pick<GatewayLimits, "uploadsPerValMax" | "uploadsPerClientMax">) {
    this.#limits = limits
  }

  /** How many keys are counted, for tests. */
  get size(): number {
    return this.#counts.size
  }

  /** Takes a place, which the function gives back. Fails with `too_many_runs`. */
  take(valId: string, address: string): () => void {
    const client = `${valId} ${address}`
    const isFull =
      this.#count(valId) >= this.#limits.uploadsPerValMax ||
      this.#count(client) >= this.#limits.uploadsPerClientMax
    if (isFull)
      throw new AppError(
        "too_many_runs",
        "Cannot take the body: too many large bodies are on their way to the val",
      )
    this.#add(valId, 1)
    this.#add(client, 1)
    let isTaken = true
    return () => {
      if (!isTaken) return
      isTaken = false
      this.#add(valId, -1)
      this.#add(client, -1)
    }
  }

  #count(key: string): number {
    return this.#counts.get(key) ?? 0
  }

  #add(key: string, change: number): void {
    const count = this.#count(key) + change
    if (count > 0) this.#counts.set(key, count)
    else this.#counts.delete(key)
  }
}
