import { Histogram } from "@hamlet/kit"
import type { RunnerStatus } from "@hamlet/sandbox"

/** How things stand with a runner that starts no processes. */
export const idleStatus: RunnerStatus = {
  isolation: "none",
  processes: 0,
  ready: 0,
  runs: 0,
  waiting: 0,
  memoryBytes: 0,
  memoryBytesMax: 0,
  coldStarts: new Histogram(),
}
