import { readFileSync } from "node:fs"
import { totalmem } from "node:os"
import { dirname, join } from "node:path"

/**
 * The memory available to this process and its children: that of the machine, or less if a control
 * group limits it.
 */
export function readMachineMemory(totalBytes = totalmem(), read: ReadText = readText): number {
  const limits = listGroupFiles(read("/proc/self/cgroup")).map((path) =>
    Number.parseInt(read(path), 10),
  )
  // A group without a limit reports "max" in version 2, and a number larger than any machine in
  // version 1.
  return Math.min(totalBytes, ...limits.filter((bytes) => bytes > 0))
}

type ReadText = (path: string) => string

/** A limit applies to all groups below it, so every group from ours up to the root counts. */
function listGroupFiles(memberships: string): string[] {
  return memberships.split("\n").flatMap((line) => {
    const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? []
    if (path === undefined) return []
    if (controllers === "")
      return listUpwards(path).map((group) => join("/sys/fs/cgroup", group, "memory.max"))
    if (!controllers?.split(",").includes("memory")) return []
    return listUpwards(path).map((group) =>
      join("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes"),
    )
  })
}

function listUpwards(path: string): string[] {
  return path === "/" ? [path] : [path, ...listUpwards(dirname(path))]
}

/**
 * In a container the path of a group may be wrong, and the root group has no file: a missing file
 * means no limit.
 */
function readText(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}
