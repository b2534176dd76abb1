import { AppError } from "../../domain/app-error.ts"
import type { GatewayLimits } from "../limits.ts"

/**
 * Limits concurrent uploads to a val. Each occupies a run: without a limit, clients that send half a
 * body and stop would use up all runs that a val may have.
 */
export class UploadLimiter {
  readonly #limits: Pick<GatewayLimits, "uploadsPerValMax" | "uploadsPerClientMax">
  readonly #counts = new Map<string, number>()

  constructor(limits: Pick<GatewayLimits, "uploadsPerValMax" | "uploadsPerClientMax">) {
    this.#limits = limits
  }

  /** Number of counted keys, for tests. */
  get size(): number {
    return this.#counts.size
  }

  /** Returns the function that releases the upload. Throws `too_many_runs`. */
  acquire(valId: string, address: string): () => void {
    const client = `${valId} ${address}`
    const isFull =
      this.#count(valId) >= this.#limits.uploadsPerValMax ||
      this.#count(client) >= this.#limits.uploadsPerClientMax
    if (isFull)
      throw new AppError(
        "too_many_runs",
        "Cannot accept the body: too many uploads to the val are in progress",
      )
    this.#add(valId, 1)
    this.#add(client, 1)
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
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
