import type { importedVal } from "@hamlet/contract"
import type { z } from "zod"
import type { ValSource } from "./val-source.ts"

/** A val as it was sent, with sound fields. */
export type IncomingVal = z.output<typeof importedVal>

/** A version that is going to be written down. */
export interface ImportedVersion {
  readonly version: number
  readonly source: ValSource
  readonly createdAt: number
}

/** The versions of an imported val, oldest first, with numbers and times that can stand. */
export interface ImportedHistory {
  readonly versions: readonly ImportedVersion[]
  /** The one that is current. */
  readonly last: ImportedVersion
  /**
   * Whether the numbers mean anything: a single one without a number is just the code that the val
   * should have.
   */
  readonly isNumbered: boolean
  /** Whether numbers that were sent could not be kept. */
  readonly isRenumbered: boolean
  readonly createdAt: number
  readonly updatedAt: number
}

/**
 * Makes a history of what was sent. Numbers are kept when all are there and each is higher than the
 * one before; otherwise the versions are numbered from 1. No time is kept that is later than the
 * one that follows it, or than now. `sources` are the versions' code in their order.
 */
export function toHistory(
  val: IncomingVal,
  sources: readonly ValSource[],
  at: number,
): ImportedHistory {
  const numbers = val.versions.map(({ version }) => version)
  const isSound = numbers.every(
    (number, index) => number !== undefined && number > (numbers[index - 1] ?? 0),
  )
  const times = toTimes(
    val.versions.map(({ createdAt }) => createdAt),
    at,
  )
  const versions = sources.map((source, index) => ({
    version: (isSound ? numbers[index] : undefined) ?? index + 1,
    source,
    createdAt: times[index] ?? at,
  }))
  const [first, last] = [versions[0], versions.at(-1)]
  if (!first || !last)
    throw new Error("Cannot make a history of no version: the schema asks for one")
  return {
    versions,
    last,
    isNumbered: isSound || versions.length > 1,
    isRenumbered: !isSound && numbers.some((number) => number !== undefined),
    createdAt: Math.min(val.createdAt ?? first.createdAt, first.createdAt),
    updatedAt: Math.min(Math.max(val.updatedAt ?? last.createdAt, last.createdAt), at),
  }
}

/** From the newest to the oldest, because that one's limit is known. */
function toTimes(sent: readonly (number | undefined)[], at: number): readonly number[] {
  let limit = at
  return sent
    .map((_, index) => {
      const time = sent[sent.length - 1 - index]
      limit = Math.min(time ?? limit, limit)
      return limit
    })
    .reverse()
}
