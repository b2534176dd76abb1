import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals"
import { parsePageMessage } from "../../../page-console/page-message.ts"
import { type PageLine, toPageLine } from "./to-page-line.ts"

const limits = {
  linesMax: 500,
  /** Between two changes of what is shown. */
  flushMs: 100,
  /**
   * The time that messages may take: so much at once, and this share of all time. Each takes at least
   * `messageMs`, which clocks of browsers are too coarse to measure.
   */
  busyMsMax: 500,
  busyShare: 0.1,
  messageMs: 0.05,
  /** How long after its end of loading a page that has the script may stay silent. */
  silentMs: 500,
}

const flooded: Omit<PageLine, "at"> = {
  level: "warn",
  message: "… more lines left out: the page sends too many messages",
  source: "",
  isPage: false,
}

/**
 * What the page of a val in the frame logs, fetches and throws. The page may be hostile and send any
 * message: its content is read only while that takes a small part of the time.
 */
export class PageConsole {
  /** The last lines, the oldest first; they stay when the page is loaded again. */
  readonly lines: Signal<readonly PageLine[]> = signal([])
  /** The errors since the page was loaded. */
  readonly errorCount: ReadonlySignal<number> = computed(() => countErrors(this.lines.value))
  /** Whether the page that is shown has not sent anything: it does not have the script. */
  readonly isSilent: Signal<boolean> = signal(false)
  readonly #nowMs: () => number
  #pending: PageLine[] = []
  #isFlooded = false
  #busyMs = 0
  #seenMs = 0
  #hasBegun = false
  #flushTimer: ReturnType<typeof setTimeout> | undefined
  #silenceTimer: ReturnType<typeof setTimeout> | undefined

  constructor(nowMs = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /** Takes a message of the frame. Reading `data` is what makes the browser unpack it. */
  receive(event: { readonly data: unknown }): void {
    const startMs = this.#nowMs()
    this.#busyMs -= Math.min(this.#busyMs, (startMs - this.#seenMs) * limits.busyShare)
    this.#seenMs = startMs
    if (this.#busyMs > limits.busyMsMax) this.#isFlooded = true
    else {
      const entries = parsePageMessage(event.data) ?? []
      const at = new Date().toISOString()
      for (const entry of entries) this.#pending.push({ ...toPageLine(entry), at })
      if (entries.some(({ kind }) => kind === "page")) this.#begin()
      if (this.#pending.length > limits.linesMax)
        this.#pending = this.#pending.slice(-limits.linesMax)
      this.#busyMs += Math.max(limits.messageMs, this.#nowMs() - startMs)
    }
    if (this.#pending.length > 0 || this.#isFlooded)
      this.#flushTimer ??= setTimeout(() => this.#flush(), limits.flushMs)
  }

  /** Called when the frame has loaded a page, whose script runs before that. */
  pageLoaded(): void {
    clearTimeout(this.#silenceTimer)
    const decide = () => {
      this.isSilent.value = !this.#hasBegun
      this.#hasBegun = false
    }
    if (this.#hasBegun) decide()
    else this.#silenceTimer = setTimeout(decide, limits.silentMs)
  }

  clear(): void {
    this.#pending = []
    this.lines.value = []
  }

  stop(): void {
    clearTimeout(this.#flushTimer)
    clearTimeout(this.#silenceTimer)
  }

  #begin(): void {
    this.#hasBegun = true
    this.isSilent.value = false
  }

  #flush(): void {
    this.#flushTimer = undefined
    const all = [...this.lines.peek(), ...this.#pending]
    if (this.#isFlooded && all.at(-1)?.message !== flooded.message)
      all.push({ ...flooded, at: new Date().toISOString() })
    this.#isFlooded = false
    this.#pending = []
    this.lines.value = all.slice(-limits.linesMax)
  }
}

function countErrors(lines: readonly PageLine[]): number {
  const begin = lines.findLastIndex(({ isPage }) => isPage)
  return lines.slice(begin + 1).filter(({ level }) => level === "error").length
}
