import { freemem, totalmem } from "node:os"
import { readOpenFilesMax, tryReadText } from "@hamlet/kit"
import type { Config } from "../../config/config.ts"
import { about, type Findings, toSize } from "../finding.ts"
import { doctorLimits as limits } from "../limits.ts"

/** A clock that is years off makes every certificate and every token look wrong. */
export function checkClock(): Findings {
  const now = new Date()
  const year = now.getUTCFullYear()
  const isSane = year >= limits.yearMin && year <= limits.yearMax
  if (!isSane)
    return about("clock").failure(
      now.toISOString(),
      "set the clock, by NTP (systemd-timesyncd, chrony) if possible",
    )
  return about("clock").fine(now.toISOString())
}

/** The limit on open files of this process; child processes inherit it. */
export function checkOpenFiles({ runs }: Config): Findings {
  const most = readOpenFilesMax()
  if (most === undefined)
    return about("open files").fine("this system does not say how many there may be")
  const wanted = limits.openFilesCommon + limits.openFilesPerProcess * runs.processesMax
  const found = `${most} at once`
  const mend =
    '"ulimit -n 65536" before the server is started, or LimitNOFILE=65536 in its systemd unit'
  if (most < limits.openFilesMin) return about("open files").failure(found, mend)
  if (most < wanted)
    return about("open files").warning(
      `${found}, and ${runs.processesMax} sandboxes may need ${wanted}`,
      mend,
    )
  return about("open files").fine(found)
}

/** The memory available for vals. */
export function checkMemory({ runs }: Config): Findings {
  const total = readMemoryMax()
  const available = Math.min(total, readAvailable())
  const share = runs.processesMemoryBytesMax
  const found = `${toSize(available)} of ${toSize(total)} available, ${toSize(share)} for sandboxes`
  if (available < limits.memoryBytesMin)
    return about("memory").failure(found, "end something else, or use a larger machine")
  if (share > total)
    return about("memory").warning(
      found,
      "lower HAMLET_PROCESSES_MEMORY_MB to about half of what there is",
    )
  if (available < limits.memoryBytesWanted)
    return about("memory").warning(found, "end something else, or use a larger machine")
  return about("memory").fine(found)
}

/** A container may have less memory than the machine. */
function readMemoryMax(): number {
  const constrained = process.constrainedMemory()
  return constrained !== undefined && constrained > 0
    ? Math.min(constrained, totalmem())
    : totalmem()
}

/** MemAvailable, since MemFree is far less. */
function readAvailable(): number {
  const [, kibibytes] = /^MemAvailable: +(\d+) kB/m.exec(tryReadText("/proc/meminfo")) ?? []
  return kibibytes === undefined ? freemem() : Number(kibibytes) * 1024
}
