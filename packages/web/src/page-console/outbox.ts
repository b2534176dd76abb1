import { type PageEntry, pageLimits, toPageMessage } from "./page-message.ts"

const limits = {
  /** Entries per second, and how many more of errors and requests. */
  perSecond: 100,
  moreOfImportant: 50,
  /** Between two messages. */
  flushMs: 100,
}

/** Sends entries to the app, in few messages. A page that logs in a loop stays as fast as it is. */
export class Outbox {
  readonly #send: (message: string) => void
  readonly #now: () => number
  readonly #later: (callback: () => void, ms: number) => void
  #entries: PageEntry[] = []
  #chars = 0
  #omitted = 0
  #count = 0
  #countedFromMs = Number.NEGATIVE_INFINITY
  #sentMs = Number.NEGATIVE_INFINITY
  #isWaiting = false

  constructor(
    send: (message: string) => void,
    now: () => number,
    later: (callback: () => void, ms: number) => void,
  ) {
    this.#send = send
    this.#now = now
    this.#later = later
  }

  /** Adds an entry, which is made only if it is sent. */
  add(isImportant: boolean, make: () => PageEntry): void {
    const now = this.#now()
    if (now - this.#countedFromMs >= 1_000) {
      this.#countedFromMs = now
      this.#count = 0
    }
    const countMax = limits.perSecond + (isImportant ? limits.moreOfImportant : 0)
    if (this.#count >= countMax || this.#chars > pageLimits.textsCharsMax) this.#omitted += 1
    else {
      const entry = make()
      this.#count += 1
      if (entry.kind === "line") this.#chars += entry.text.length
      this.#entries.push(entry)
    }
    this.#schedule(now)
  }

  /** Sends what there is: the page may be about to end. */
  flush(): void {
    this.#isWaiting = false
    if (this.#omitted > 0) this.#entries.push({ kind: "omitted", count: this.#omitted })
    if (this.#entries.length === 0) return
    const message = toPageMessage(this.#entries)
    this.#entries = []
    this.#chars = 0
    this.#omitted = 0
    this.#sentMs = this.#now()
    this.#send(message)
  }

  /** The first entry is sent at once: the page may be busy from now on. */
  #schedule(now: number): void {
    if (this.#isWaiting) return
    const ms = this.#sentMs + limits.flushMs - now
    this.#isWaiting = ms > 0
    if (this.#isWaiting) this.#later(() => this.flush(), ms)
    else this.flush()
  }
}
