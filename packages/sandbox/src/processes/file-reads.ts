import type { FileReply } from "@hamlet/guest/protocol"
import { TokenBucket } from "@hamlet/kit"
import type { Program } from "../program/runner.ts"

const limits = {
  /** Files that a guest may wait for. It asks for fewer at once. */
  waitingMax: 100,
  /** The texts that a process gets in a second. Beyond that it waits. */
  charsPerSecondMax: 16 * 1024 ** 2,
  pauseMs: 50,
}

/**
 * The files that a process asks for, one at a time: a program that asks without end keeps
 * neither the database nor the thread busy.
 */
export class FileReads {
  readonly #read: Program["readFile"]
  readonly #reply: (reply: FileReply) => void
  readonly #chars = new TokenBucket(limits.charsPerSecondMax, 1000, performance.now())
  readonly #waiting: { readonly id: number; readonly path: string | null }[] = []
  #isReading = false
  #isOver = false

  constructor(read: Program["readFile"], reply: (reply: FileReply) => void) {
    this.#read = read
    this.#reply = reply
  }

  /** Returns false if the guest waits for too many. */
  add(id: number, path: string | null): boolean {
    if (this.#waiting.length >= limits.waitingMax) return false
    this.#waiting.push({ id, path })
    if (!this.#isReading) void this.#work()
    return true
  }

  stop(): void {
    this.#isOver = true
    this.#waiting.length = 0
  }

  async #work(): Promise<void> {
    this.#isReading = true
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      await this.#hasRoom()
      const { id, path } = next
      // The database is away: the program can try again.
      const text = await this.#read(path).catch(() => undefined)
      if (this.#isOver) break
      this.#chars.charge(text?.length ?? 0)
      this.#reply({ kind: "file", id, text: text ?? null, isFailed: text === undefined })
    }
    this.#isReading = false
  }

  async #hasRoom(): Promise<void> {
    this.#chars.refill(performance.now())
    while (!this.#chars.hasToken && !this.#isOver) {
      await Bun.sleep(limits.pauseMs)
      this.#chars.refill(performance.now())
    }
  }
}
