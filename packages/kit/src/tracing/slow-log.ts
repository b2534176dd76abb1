import { TokenBucket, TokenBuckets } from "../counts/token-bucket.ts"

const limits = { linesPerMinute: 20 }

/**
 * Logs what took long, a few lines of each cause per minute: when a database is slow, everything is,
 * and vals that sleep must not hide it.
 */
export class SlowLog {
  /** What takes this long is logged; never, if it is infinite. */
  readonly msMin: number
  readonly #write: (fields: object) => void
  readonly #lines = new TokenBuckets(60_000, () => performance.now(), TokenBucket)
  /** Entries that were left out since the last line. */
  #skipped = 0

  constructor(msMin: number | undefined, write: (fields: object) => void) {
    this.msMin = msMin ?? Number.POSITIVE_INFINITY
    this.#write = write
  }

  note(fields: { readonly cause?: string; readonly [name: string]: unknown }): void {
    if (this.#lines.take(fields.cause ?? "", limits.linesPerMinute) > 0) {
      this.#skipped += 1
      return
    }
    this.#write(this.#skipped === 0 ? fields : { ...fields, skipped: this.#skipped })
    this.#skipped = 0
  }
}

/** What a request has waited for, in milliseconds, and the longest of it as the cause. */
export function explainWaits(waits: Readonly<Record<string, number>>) {
  const rounded = Object.entries(waits).map(([name, ms]) => [name, Math.round(ms)] as const)
  const [cause] = rounded.reduce((longest, wait) => (wait[1] > longest[1] ? wait : longest))
  return { cause, waitedMs: Object.fromEntries(rounded) }
}
