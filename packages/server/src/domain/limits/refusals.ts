import type { ErrorCode } from "@hamlet/contract"

/**
 * Counts the requests that were turned away before a val ran. There are as many entries as error
 * codes, however many requests there are.
 */
export class Refusals {
  readonly #counts = new Map<ErrorCode, number>()

  note(code: ErrorCode): void {
    this.#counts.set(code, (this.#counts.get(code) ?? 0) + 1)
  }

  list(): readonly (readonly [code: ErrorCode, count: number])[] {
    return [...this.#counts]
  }
}
