import { OpenCounts } from "@hamlet/kit"
import { AppError } from "../../domain/app-error.ts"
import type { GatewayLimits } from "../limits.ts"

/**
 * Limits concurrent uploads to a val. Each occupies a run: without a limit, clients that send half a
 * body and stop would use up all runs that a val may have.
 */
export class UploadLimiter {
  readonly #limits: Pick<GatewayLimits, "uploadsPerValMax" | "uploadsPerClientMax">
  readonly #open = new OpenCounts()

  constructor(limits: Pick<GatewayLimits, "uploadsPerValMax" | "uploadsPerClientMax">) {
    this.#limits = limits
  }

  /** Number of counted keys, for tests. */
  get size(): number {
    return this.#open.size
  }

  /** Returns the function that releases the upload. Throws `too_many_runs`. */
  acquire(valId: string, address: string): () => void {
    const client = `${valId} ${address}`
    const isFull =
      this.#open.of(valId) >= this.#limits.uploadsPerValMax ||
      this.#open.of(client) >= this.#limits.uploadsPerClientMax
    if (isFull)
      throw new AppError(
        "too_many_runs",
        "Cannot accept the body: too many uploads to the val are in progress",
      )
    const ends = [this.#open.open(valId), this.#open.open(client)]
    return () => {
      for (const end of ends) end()
    }
  }
}
