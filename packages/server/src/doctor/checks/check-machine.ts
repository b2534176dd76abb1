import { readFileSync } from "node:fs"
import { freemem, totalmem } from "node:os"
import type { Config } from "../../config/config.ts"
import { readOpenFilesMax } from "../../shared/files/open-files.ts"
import { type Finding, failure, fine, toSize, warning } from "../finding.ts"
import { doctorLimits as limits } from "../limits.ts"

/** A clock that is years off makes every certificate and every token look wrong. */
export function checkClock(): readonly Finding[] {
  const now = new Date()
  const year = now.getUTCFullYear()
  const isSane = year >= limits.yearMin && year <= limits.yearMax
  if (!isSane)
    return [
      failure(
        "clock",
        now.toISOString(),
        "set the clock, by NTP (systemd-timesyncd, chrony) if possible",
      ),
    ]
  return [fine("clock", now.toISOString())]
}

/** The limit on open files of this process; child processes inherit it. */
export function checkOpenFiles({ runs }: Config): readonly Finding[] {
  const most = readOpenFilesMax()
  if (most === undefined)
    return [fine("open files", "this system does not say how many there may be")]
  const wanted = limits.openFilesCommon + limits.openFilesPerProcess * runs.processesMax
  const found = `${most} at once`
  const mend =
    '"ulimit -n 65536" before the server is started, or LimitNOFILE=65536 in its systemd unit'
  if (most < limits.openFilesMin) return [failure("open files", found, mend)]
  if (most < wanted)
    return [
      warning(
        "open files",
        `${found}, and ${runs.processesMax} sandboxes may need ${wanted}`,
        mend,
      ),
    ]
  return [fine("open files", found)]
}

/** The memory available for vals. */
export function checkMemory({ runs }: Config): readonly Finding[] {
  const total = readMemoryMax()
  const available = Math.min(total, readAvailable())
  const share = runs.processesMemoryBytesMax
  const found = `${toSize(available)} of ${toSize(total)} available, ${toSize(share)} for sandboxes`
  if (available < limits.memoryBytesMin)
    return [failure("memory", found, "end something else, or use a larger machine")]
  if (share > total)
    return [
      warning("memory", found, "lower HAMLET_PROCESSES_MEMORY_MB to about half of what there is"),
    ]
  if (available < limits.memoryBytesWanted)
    return [warning("memory", found, "end something else, or use a larger machine")]
  return [fine("memory", found)]
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
  const [, kibibytes] = /^MemAvailable: +(\d+) kB/m.exec(readText("/proc/meminfo")) ?? []
  return kibibytes === undefined ? freemem() : Number(kibibytes) * 1024
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}
