import { availableParallelism } from "node:os"
import type { ToolLimits } from "../sandbox/launch/tool-run.ts"
import type { ToolResolveLimits } from "./tool/tool-messages.ts"

/** What resolving the imports of one version may take. */
export interface ResolverLimits
  extends ToolResolveLimits,
    Omit<ToolLimits, "msMax" | "outputBytesMax"> {
  /** For all of it, from its turn on. */
  readonly resolveMsMax: number
  /** Resolutions at the same time; the others wait. */
  readonly atOnceMax: number
  /** What is said of the imports, beside their code: it is kept with the version. */
  readonly answerBytesMax: number
}

const mebibyte = 1024 ** 2

/** The limits that hold when nothing else is said. */
export const resolverLimits: ResolverLimits = {
  resolveMsMax: 120_000,
  atOnceMax: availableParallelism(),
  answerBytesMax: 2 * mebibyte,
  importsMax: 100,
  placesMax: 100,
  packagesMax: 500,
  modulesMax: 20_000,
  bundleBytesMax: 10 * mebibyte,
  exportsMax: 5_000,
  // What is fetched is in memory too, where there is bubblewrap.
  memoryBytesMax: 1024 * mebibyte,
  heapBytesMax: 256 * mebibyte,
  threadsMax: 128,
  scratchBytesMax: 512 * mebibyte,
  scratchEntriesMax: 200_000,
  openFilesMax: 4096,
  fileBytesMax: 256 * mebibyte,
  cpuSecondsMax: 240,
}
