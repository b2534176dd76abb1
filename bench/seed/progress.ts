const limits = { barCells: 30, redrawMs: 200, toldMsMin: 2_000 }

/**
 * Shows the progress of a long task on standard error: a bar on a terminal, and a line for each slow
 * step.
 */
export class Progress {
  readonly #title: string
  readonly #isTerminal = process.stderr.isTTY === true
  #step = ""
  #stepBegan = performance.now()
  #drawn = 0

  constructor(title: string) {
    this.#title = title
  }

  /** Runs a step, which reports its progress as a number between 0 and 1. */
  async step<T>(
    name: string,
    work: (report: (part: number) => void) => Promise<T> | T,
  ): Promise<T> {
    this.#step = name
    this.#stepBegan = performance.now()
    this.#drawn = 0
    this.#draw(0)
    const result = await work((part) => this.#draw(part))
    const ms = performance.now() - this.#stepBegan
    if (this.#isTerminal) process.stderr.write("\r\x1b[2K")
    if (ms >= limits.toldMsMin)
      process.stderr.write(`${this.#title}: ${name} (${(ms / 1_000).toFixed(0)} s)\n`)
    return result
  }

  #draw(part: number): void {
    const now = performance.now()
    if (!this.#isTerminal || now - this.#drawn < limits.redrawMs) return
    this.#drawn = now
    const cells = Math.round(part * limits.barCells)
    process.stderr.write(
      `\r\x1b[2K${this.#title} [${"#".repeat(cells)}${".".repeat(limits.barCells - cells)}] ${Math.round(part * 100)} % ${this.#step}`,
    )
  }
}
