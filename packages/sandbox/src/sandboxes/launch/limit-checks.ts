import { insideEmits } from "../../emits/emit-folder.ts"
import type { Cgroup } from "../cgroups/cgroup.ts"
import type { StopCause } from "../sandbox-exit.ts"
import type { SandboxFolder } from "../sandbox-folder.ts"
import type { SandboxLimits } from "../sandbox-limits.ts"
import { insideScratch } from "./bubblewrap-command.ts"
import type { GuestProcess } from "./guest-process.ts"
import type { Isolation } from "./isolation.ts"

/** The scratch folder is measured every so many checks: that takes longer than the others. */
const scratchCheckEvery = 10

/** What is known of a sandbox whose limits are checked. */
interface CheckedParts {
  readonly guest: GuestProcess
  readonly group: Cgroup | undefined
  readonly folder: SandboxFolder
}

export type LimitChecks = ReturnType<typeof createLimitChecks>

/** The checks of those limits of a sandbox that the kernel does not enforce on this machine. */
export function createLimitChecks(
  limits: SandboxLimits,
  { bubblewrap, hasOwnUser }: Isolation,
  { guest, group, folder }: CheckedParts,
) {
  const isMemoryEnforced = group?.has("memory") ?? false
  const isPidsEnforced = group?.has("pids") ?? false
  let cpuMs: number | undefined
  let checks = 0
  return {
    areNeeded: !isMemoryEnforced || !isPidsEnforced || !bubblewrap,
    /** The CPU time of the process as of the last check. */
    readCpuMs: () => cpuMs,
    /** Why the sandbox must end. Undefined while it keeps its limits. */
    findExcess(): StopCause | undefined {
      const usage = guest.readUsage()
      if (!usage) return undefined
      cpuMs = usage.cpuMs
      checks += 1
      if (!isMemoryEnforced && usage.memoryBytes > limits.memoryBytesMax)
        return { reason: "memory" }
      if (!isPidsEnforced && !hasOwnUser && usage.threads > limits.threadsMax)
        return { reason: "processes" }
      // Its scratch folder is a file system in memory then, which the group limits.
      if (bubblewrap) return isMemoryEnforced ? undefined : checkEntries(limits, guest)
      return checks % scratchCheckEvery === 0 ? checkFolder(limits, folder) : undefined
    },
  }
}

/** The scratch folder is a file system of its own, which limits its bytes but not its files. */
function checkEntries(
  { scratchEntriesMax }: SandboxLimits,
  guest: GuestProcess,
): StopCause | undefined {
  const folders = [insideScratch, insideEmits.inside]
  const entries = folders.reduce((sum, path) => sum + (guest.readEntries(path) ?? 0), 0)
  if (entries <= scratchEntriesMax) return undefined
  const message = `its scratch folder holds more than the limit of ${scratchEntriesMax} files and folders`
  return { reason: "files", message }
}

function checkFolder(
  { scratchBytesMax, scratchEntriesMax }: SandboxLimits,
  folder: SandboxFolder,
): StopCause | undefined {
  if (!folder.isScratchLargerThan(scratchBytesMax, scratchEntriesMax)) return undefined
  const message = `its scratch folder holds more than the limit of ${scratchBytesMax} bytes, or ${scratchEntriesMax} files and folders`
  return { reason: "files", message }
}
