import { AppError } from "../../domain/app-error.ts"

/** A range of bytes; `end` is exclusive. */
export interface Range {
  readonly start: number
  readonly end: number
}

/** The range begins after the end. */
export class RangeNotSatisfiable extends AppError {
  constructor(readonly size: number) {
    super("range_not_satisfiable", `Cannot send that range: there are ${size} bytes`)
  }
}

/**
 * The range that a client asks for; undefined for everything. HTTP allows a server to ignore a
 * range: this one ignores several ranges, other units, invalid values, and ranges of old content
 * (`If-Range`).
 */
export function findRange(headers: Headers, size: number, etag: string): Range | undefined {
  const [, first = "", last = ""] =
    /^bytes=(\d{0,15})-(\d{0,15})$/.exec(headers.get("range") ?? "") ?? []
  const condition = headers.get("if-range")
  if ((first === "" && last === "") || (condition !== null && condition !== etag)) return undefined
  const range =
    first === ""
      ? { start: Math.max(0, size - Number(last)), end: size }
      : { start: Number(first), end: toEnd(last, size) }
  if (first !== "" && last !== "" && Number(last) < Number(first)) return undefined
  if (range.start >= size || range.start >= range.end) throw new RangeNotSatisfiable(size)
  return range
}

function toEnd(last: string, size: number): number {
  return last === "" ? size : Math.min(size, Number(last) + 1)
}
