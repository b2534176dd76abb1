import { InvalidArgumentError } from "commander"

const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** A moment as somebody writes it: `15m`, `2h`, `3d` before now, a day, or ISO-8601. */
export function toMoment(text: string): Date {
  return toDate(text, -1)
}

/** The same for a moment to come. */
export function toFutureMoment(text: string): Date {
  return toDate(text, 1)
}

function toDate(text: string, direction: 1 | -1): Date {
  const span = /^(\d{1,6})([smhdw])$/.exec(text)
  const ms = span
    ? Date.now() + direction * Number(span[1]) * unitMs[span[2] as keyof typeof unitMs]
    : parseDate(text)
  if (Number.isNaN(ms))
    throw new InvalidArgumentError(
      "It must be as in 15m, 2h, 3d, 2026-01-31 or 2026-01-31T12:00:00Z.",
    )
  return new Date(ms)
}

/** Only what looks like a date: `Date.parse` makes one of nearly anything. */
function parseDate(text: string): number {
  return /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/.test(text)
    ? Date.parse(text)
    : Number.NaN
}
