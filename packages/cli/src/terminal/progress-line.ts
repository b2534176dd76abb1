import { truncateTo } from "./table.ts"

/** What is counted: bytes are shown as sizes, other units by name. */
export type ProgressUnit = "bytes" | (string & {})

/** The state of a progress line. */
export interface ProgressState {
  readonly label: string
  readonly unit: ProgressUnit
  readonly done: number
  readonly total: number | undefined
  readonly perSecond: number | undefined
}

const barCharsMax = 30
const barCharsMin = 8
const gap = "  "
/** Longer estimates are not shown. */
const secondsLeftMax = 360_000

/**
 * Formats a line of at most `width` columns: less important parts are dropped first, then the bar
 * shrinks.
 */
export function toProgressLine(state: ProgressState, width: number): string {
  const { label, unit, done, total, perSecond } = state
  const share = total ? Math.min(1, done / total) : undefined
  const percent = share === undefined ? undefined : `${Math.floor(share * 100)}%`
  const amount = total === undefined ? toAmount(done, unit) : toAmountOf(done, total, unit)
  const rate =
    perSecond === undefined || perSecond <= 0 ? undefined : `${toAmount(perSecond, unit)}/s`
  const left =
    total === undefined || !perSecond || perSecond <= 0
      ? undefined
      : toSpan((total - done) / perSecond)
  const attempts = [
    [percent, amount, rate, left],
    [percent, amount, rate],
    [percent, amount],
    [percent ?? amount],
  ]
  for (const parts of attempts) {
    const text = [label, ...parts].filter((part) => part !== undefined).join(gap)
    const room = width - Bun.stringWidth(text)
    if (room < 0) continue
    if (share === undefined || !Number.isFinite(width)) return text
    const barChars = Math.min(barCharsMax, room - gap.length)
    if (barChars < barCharsMin) return text
    return [label, toBar(share, barChars), ...parts].filter((part) => part !== undefined).join(gap)
  }
  return truncateTo(label, Math.max(1, width))
}

function toBar(share: number, chars: number): string {
  const full = Math.floor(share * chars)
  return "█".repeat(full) + "░".repeat(chars - full)
}

function toAmountOf(done: number, total: number, unit: ProgressUnit): string {
  return unit === "bytes"
    ? `${toSize(done)} of ${toSize(total)}`
    : `${Math.floor(done)} of ${total} ${unit}`
}

function toAmount(count: number, unit: ProgressUnit): string {
  if (unit === "bytes") return toSize(count)
  return `${count < 10 && !Number.isInteger(count) ? count.toFixed(1) : Math.floor(count)} ${unit}`
}

const sizes = ["bytes", "kB", "MB", "GB", "TB"] as const

/** A number of bytes as people read it, in powers of 1000. */
export function toSize(bytes: number): string {
  const power = Math.min(sizes.length - 1, bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3))
  const value = bytes / 1000 ** power
  return `${power === 0 ? Math.floor(value) : value.toFixed(1)} ${sizes[power]}`
}

function toSpan(seconds: number): string | undefined {
  const whole = Math.max(0, Math.ceil(seconds))
  if (!(whole < secondsLeftMax)) return undefined
  if (whole < 60) return `${whole} s left`
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s left`
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min left`
}
