import { AppError } from "../../domain/app-error.ts"
import { ByteBudget } from "../../shared/byte-budget.ts"
import { withinTime } from "../../shared/time/within-time.ts"

const limits = {
  /** Bodies up to this size are not counted: their connections are limited. */
  smallBytesMax: 65_536,
  /** What all bodies that are being read take together, and those of one user or address. */
  bytesMax: 134_217_728,
  bytesPerOwnerMax: 16_777_216,
  /** Requests that wait to send their body, and how long they wait. */
  waitingMax: 1_024,
  waitMsMax: 30_000,
  /** How long a client may take to send a body. */
  readMsMax: 300_000,
}

/** Limits the memory of bodies that are being received and parsed. Senders take turns. */
export class BodyBudget {
  readonly #budget: ByteBudget

  constructor(overrides: Partial<typeof limits> = {}) {
    this.#budget = new ByteBudget(
      { ...limits, ...overrides },
      () => new AppError("overloaded", "Cannot read the body: too many large bodies are under way"),
    )
  }

  /** Reads a body of at most `bytesMax`. The bytes count until it is parsed. */
  async run<Result>(
    request: Request,
    sender: string,
    bytesMax: number,
    read: () => Promise<Result>,
  ): Promise<Result> {
    const bytes = Math.min(countBytes(request), bytesMax)
    if (bytes <= limits.smallBytesMax) return read()
    const held = await this.#budget.acquire(sender, bytes)
    try {
      return await withinTime(read(), limits.readMsMax, toLate)
    } finally {
      held.release()
    }
  }
}

function toLate(): AppError {
  const seconds = limits.readMsMax / 1_000
  return new AppError(
    "body_timed_out",
    `Cannot read the body: it did not arrive within ${seconds} seconds`,
  )
}

/** Infinite for a body of unknown length. To look for a body makes one that comes in chunks slow. */
function countBytes(request: Request): number {
  const length = request.headers.get("content-length")
  if (length !== null) return Number(length)
  const isEmpty = request.headers.get("transfer-encoding") === null && request.body === null
  return isEmpty ? 0 : Number.POSITIVE_INFINITY
}
