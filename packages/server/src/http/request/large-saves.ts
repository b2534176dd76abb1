import { limits as wireLimits } from "@hamlet/contract"
import { FairSlots } from "@hamlet/kit"
import { AppError } from "../../domain/app-error.ts"

const limits = {
  /** JSON escapes quotes and line ends: code grows by less than a tenth. */
  bodyBytesMax: 1.25 * wireLimits.versionBytesMax,
  atOnceMax: 8,
  /** A user has a part of the places, so that none can occupy all by sending slowly. */
  perKeyMax: 2,
  waitingMax: 32,
}

/** The size of the largest save of files. */
export const saveBytesMax = limits.bodyBytesMax

/** Limits how many large saves of files are in memory at once, and how many of one user. */
export type LargeSaves = Pick<FairSlots, "run">

export function createLargeSaves(): LargeSaves {
  const sentence = "Cannot read the files: too many large saves are in progress"
  return new FairSlots(limits.atOnceMax, limits, () => new AppError("overloaded", sentence))
}
