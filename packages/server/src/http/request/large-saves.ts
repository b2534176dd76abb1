import { limits as wireLimits } from "@hamlet/contract"
import { AppError } from "../../domain/app-error.ts"
import { OpenCounts } from "../../shared/counter.ts"
import { FairSlots } from "../../shared/fair-queue.ts"

const limits = {
  /** JSON escapes quotes and line ends: code grows by less than a tenth. */
  bodyBytesMax: 1.25 * wireLimits.versionBytesMax,
  atOnceMax: 8,
  /** So that no user can occupy all places by sending slowly. */
  perUserMax: 2,
  waitingMax: 32,
}

/** The size of the largest save of files. */
export const saveBytesMax = limits.bodyBytesMax

/** Limits how many large saves of files are in memory at once, and how many of one user. */
export type LargeSaves = ReturnType<typeof createLargeSaves>

/** Creates the limit. */
export function createLargeSaves() {
  const slots = new FairSlots(limits.atOnceMax, { waitingMax: limits.waitingMax }, tooMany)
  const perUser = new OpenCounts()
  return {
    /** Runs a save that may be large. Rejects with `overloaded` if there are too many. */
    async run<Result>(userId: string, save: () => Promise<Result>): Promise<Result> {
      const close = perUser.tryOpen(userId, limits.perUserMax)
      if (!close) throw tooMany()
      try {
        return await slots.run(userId, save)
      } finally {
        close()
      }
    },
  }
}

function tooMany(): AppError {
  return new AppError("overloaded", "Cannot read the files: too many large saves are in progress")
}
