import { availableParallelism } from "node:os"
import type { ToolLimits } from "../sandbox/launch/tool-run.ts"
import type { ToolResolveLimits } from "./tool/tool-messages.ts"

/** What resolving the imports of one version may use. */
export interface ResolverLimits
  extends ToolResolveLimits,
    Omit<ToolLimits, "msMax" | "outputBytesMax"> {
  /** The time of one resolution, without the time that it waits. */
  readonly resolveMsMax: number
  /** Resolutions at the same time. Others wait. */
  readonly atOnceMax: number
  /** Requests of one resolution, so that modules cannot import further ones without an end. */
  readonly requestsMax: number
}

const mebibyte = 1024 ** 2

/** The defaults. */
export const resolverLimits: ResolverLimits = {
  resolveMsMax: 120_000,
  atOnceMax: availableParallelism(),
  answerBytesMax: 2 * mebibyte,
  requestsMax: 5_000,
  importsMax: 100,
  placesMax: 100,
  packagesMax: 500,
  modulesMax: 20_000,
  bundleBytesMax: 40 * mebibyte,
  exportsMax: 5_000,
  filesMax: 10_000,
  fileBytesTotalMax: 48 * mebibyte,
  filePathBytesMax: 1.75 * mebibyte,
  typeFilesMax: 4_000,
  typeFileBytesMax: 2 * mebibyte,
  typeBytesTotalMax: 8 * mebibyte,
  typePathBytesMax: 0.5 * mebibyte,
  // With bubblewrap, fetched files are in memory too.
  memoryBytesMax: 1024 * mebibyte,
  heapBytesMax: 256 * mebibyte,
  threadsMax: 128,
  scratchBytesMax: 512 * mebibyte,
  scratchEntriesMax: 200_000,
  openFilesMax: 4096,
  fileBytesMax: 256 * mebibyte,
  cpuSecondsMax: 240,
}
