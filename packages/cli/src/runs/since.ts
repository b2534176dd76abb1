import { InvalidArgumentError } from "commander"

const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** Parses a time in the past: `15m`, `2h` or `3d` ago, a date, or ISO 8601. */
export function toMoment(text: string): Date {
  return toDate(text, -1)
}

/** Parses a time in the future. */
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
      "It must look like 15m, 2h, 3d, 2026-01-31 or 2026-01-31T12:00:00Z.",
    )
  return new Date(ms)
}

/** Accepts only ISO dates: `Date.parse` accepts nearly anything. */
function parseDate(text: string): number {
  return /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/.test(text)
    ? Date.parse(text)
    : Number.NaN
}
