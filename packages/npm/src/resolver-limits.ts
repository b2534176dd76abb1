import { availableParallelism } from "node:os"
import type { ToolLimits } from "@hamlet/sandbox"
import { importLimits } from "./tool/tool-messages.ts"

const mebibyte = 1024 ** 2

/** What the sandbox of one resolution may use. */
const sandboxed = {
  // With bubblewrap, fetched files are in memory too.
  memoryBytesMax: 1024 * mebibyte,
  heapBytesMax: 256 * mebibyte,
  threadsMax: 128,
  scratchBytesMax: 512 * mebibyte,
  scratchEntriesMax: 200_000,
  openFilesMax: 4096,
  fileBytesMax: 256 * mebibyte,
  cpuSecondsMax: 240,
} satisfies Partial<ToolLimits>

/** What resolving the imports of code may use. */
export const resolverLimits = {
  ...importLimits,
  ...sandboxed,
  /** The time of one resolution, without the time that it waits. */
  resolveMsMax: 120_000,
  /** Resolutions at the same time. Others wait; accounts take turns. */
  atOnceMax: availableParallelism(),
  /** Resolutions of one account that wait. */
  waitingPerAccountMax: 20,
  /** Requests of one resolution, so that modules cannot import further ones without an end. */
  requestsMax: 5_000,
}

export type ResolverLimits = Readonly<typeof resolverLimits>
