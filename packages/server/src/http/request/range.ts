import { AppError } from "../../domain/app-error.ts"

/** A part of some bytes, from `start` to before `end`. */
export interface Range {
  readonly start: number
  readonly end: number
}

/** The error of a range that begins behind the end. */
export class RangeNotSatisfiable extends AppError {
  constructor(readonly size: number) {
    super("range_not_satisfiable", `Cannot answer with that range: there are ${size} bytes`)
  }
}

/**
 * The part that a client asks for; undefined where it is to have everything. HTTP lets a server
 * ignore a range, and we do so with several at once, with other units, with rubbish, and where the
 * client has a part of something else.
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
