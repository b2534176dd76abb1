import { ByteBudget, Watchdog, type Watched, withinTime } from "@hamlet/kit"
import { AppError } from "../../domain/app-error.ts"

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
  /**
   * While others wait, it may take this time and that of the counted bytes at this speed: both
   * together take less than others wait.
   */
  hurriedMs: 5_000,
  hurriedBytesPerSecond: 131_072,
  /** Interval at which this is checked. */
  sweepMs: 1_000,
}

/** Limits the memory of bodies that are being received and parsed. Senders take turns. */
export class BodyBudget {
  readonly #limits: typeof limits
  readonly #budget: ByteBudget
  readonly #reading: Watchdog

  constructor(overrides: Partial<typeof limits> = {}) {
    this.#limits = { ...limits, ...overrides }
    this.#budget = new ByteBudget(
      this.#limits,
      () => new AppError("overloaded", "Cannot read the body: too many large bodies are under way"),
    )
    this.#reading = new Watchdog(this.#limits.sweepMs)
  }

  /** Reads a body of at most `bytesMax`. The bytes count until it is parsed. */
  async run<Result>(
    request: Request,
    sender: string,
    bytesMax: number,
    read: () => Promise<Result>,
  ): Promise<Result> {
    const bytes = Math.min(countBytes(request), bytesMax)
    if (bytes <= this.#limits.smallBytesMax) return read()
    const held = await this.#budget.acquire(sender, bytes, request.signal)
    const late = new AbortController()
    const reading = this.#watch(bytes, late)
    try {
      return await withinTime(read(), this.#limits.readMsMax, toLate, late.signal)
    } finally {
      this.#reading.remove(reading)
      held.release()
    }
  }

  /** Ends a body that is slow while others wait for its bytes. */
  #watch(bytes: number, late: AbortController): Watched {
    const { hurriedMs, hurriedBytesPerSecond } = this.#limits
    const untilMs = performance.now() + hurriedMs + (bytes / hurriedBytesPerSecond) * 1_000
    const reading = {
      check: (nowMs: number) => {
        const isLate = nowMs > untilMs && this.#budget.waiting > 0
        if (isLate) late.abort()
        return isLate
      },
    }
    this.#reading.add(reading)
    return reading
  }
}

function toLate(): AppError {
  return new AppError("body_timed_out", "Cannot read the body: it did not arrive in time")
}

/** Infinite for a body of unknown length. To look for a body makes one that comes in chunks slow. */
function countBytes(request: Request): number {
  const length = request.headers.get("content-length")
  if (length !== null) return Number(length)
  const isEmpty = request.headers.get("transfer-encoding") === null && request.body === null
  return isEmpty ? 0 : Number.POSITIVE_INFINITY
}
