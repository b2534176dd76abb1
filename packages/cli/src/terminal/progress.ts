import type { Context } from "../context.ts"
import { type ProgressState, type ProgressUnit, toProgressLine } from "./progress-line.ts"

/** Where progress is shown. */
export interface ProgressScreen {
  readonly isTerminal: boolean
  /** Read on every redraw: terminals are resized. */
  width(): number
  nowMs(): number
}

/** What is being done, and how much of it there is. */
export interface ProgressOptions {
  /** What is being done, as in "Exporting". */
  readonly label: string
  readonly unit: ProgressUnit
  /** Absent if unknown; `set` can provide it later. */
  readonly total?: number | undefined
}

const times = {
  /** The line is redrawn ten times a second. */
  redrawMs: 100,
  /** In a log, an occasional line is enough. */
  logMs: 30_000,
  /** The rate of the last few seconds, so that it follows a slowing connection. */
  rateMs: 5_000,
}

/**
 * Shows progress on standard error: on a terminal one line, redrawn and finally erased; elsewhere
 * an occasional line; nothing there in JSON mode. `using progress = createProgress(…)` stops it
 * however the work ends; Ctrl-C does too.
 */
export function createProgress(
  context: Pick<Context, "output" | "interruption">,
  options: ProgressOptions,
  screen: ProgressScreen = ownScreen,
): Progress {
  return new Progress(context, options, screen)
}

const ownScreen: ProgressScreen = {
  isTerminal: process.stderr.isTTY === true,
  width: () => process.stderr.columns || 80,
  nowMs: () => performance.now(),
}

/** A progress display, until it is stopped. */
export class Progress implements Disposable {
  readonly #output: Context["output"]
  readonly #options: ProgressOptions
  readonly #screen: ProgressScreen
  readonly #startedMs: number
  readonly #timer: NodeJS.Timeout | undefined
  readonly #leave: () => void
  #label: string
  #done = 0
  #total: number | undefined
  #samples: { readonly atMs: number; readonly done: number }[] = []
  #shown = ""
  #loggedMs: number
  #isStopped = false

  constructor(
    { output, interruption }: Pick<Context, "output" | "interruption">,
    options: ProgressOptions,
    screen: ProgressScreen,
  ) {
    this.#output = output
    this.#options = options
    this.#screen = screen
    this.#label = options.label
    this.#total = options.total
    this.#startedMs = screen.nowMs()
    this.#loggedMs = this.#startedMs
    this.#leave = interruption.onEnd(() => this.stop())
    const isSilent = !screen.isTerminal && output.mode === "json"
    if (!isSilent) this.#timer = setInterval(() => this.tick(), times.redrawMs)
    this.#timer?.unref()
  }

  /** Sets what is done, and the total if it has become known. */
  set(done: number, total = this.#total): void {
    this.#done = done
    this.#total = total
  }

  /** Adds to what is done. */
  add(more: number): void {
    this.#done += more
  }

  /** Changes the label; what is done stays. */
  label(label: string): void {
    this.#label = label
  }

  /** Prints a note above the line. */
  note(text: string): void {
    this.#erase()
    this.#output.note(text)
  }

  /** Erases the line. Nothing is shown after that. */
  stop(): void {
    if (this.#isStopped) return
    this.#isStopped = true
    clearInterval(this.#timer)
    this.#leave()
    this.#erase()
  }

  [Symbol.dispose](): void {
    this.stop()
  }

  /** Redraws. Called by the timer, and directly by tests. */
  tick(): void {
    if (this.#isStopped) return
    const state = this.#toState()
    if (this.#screen.isTerminal) this.#redraw(toProgressLine(state, this.#screen.width() - 1))
    else if (state.nowMs - this.#loggedMs >= times.logMs) {
      this.#loggedMs = state.nowMs
      this.#output.note(toProgressLine(state, Number.POSITIVE_INFINITY))
    }
  }

  #toState(): ProgressState & { readonly nowMs: number } {
    const nowMs = this.#screen.nowMs()
    this.#samples.push({ atMs: nowMs, done: this.#done })
    // One sample older than the window is kept, to compare with.
    while (this.#samples.length > 2 && (this.#samples[1]?.atMs ?? nowMs) <= nowMs - times.rateMs)
      this.#samples.shift()
    const first = this.#samples[0] ?? { atMs: this.#startedMs, done: 0 }
    const spanMs = nowMs - first.atMs
    const perSecond = spanMs > 0 ? ((this.#done - first.done) * 1000) / spanMs : undefined
    return {
      label: this.#label,
      unit: this.#options.unit,
      done: this.#done,
      total: this.#total,
      perSecond,
      nowMs,
    }
  }

  /** No escape sequences: overwriting with spaces works on every terminal. */
  #redraw(line: string): void {
    if (line === this.#shown) return
    const rest = Math.max(0, Bun.stringWidth(this.#shown) - Bun.stringWidth(line))
    this.#output.errorText(line, (text) => `\r${text}${" ".repeat(rest)}${"\b".repeat(rest)}`)
    this.#shown = line
  }

  #erase(): void {
    if (this.#shown === "") return
    const width = Math.min(Bun.stringWidth(this.#shown), this.#screen.width() - 1)
    this.#output.errorText("", () => `\r${" ".repeat(width)}\r`)
    this.#shown = ""
  }
}
