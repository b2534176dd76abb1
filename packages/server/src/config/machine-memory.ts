import { readFileSync } from "node:fs"
import { totalmem } from "node:os"
import { dirname, join } from "node:path"

/**
 * The memory that this process and all it starts may use: the machine's, or less if a control group
 * says so.
 */
export function readMachineMemory(totalBytes = totalmem(), read: ReadText = readText): number {
  const limits = listGroupFiles(read("/proc/self/cgroup")).map((path) =>
    Number.parseInt(read(path), 10),
  )
  // A group without a limit says "max" on version 2, and a number beyond every machine on version
  // 1.
  return Math.min(totalBytes, ...limits.filter((bytes) => bytes > 0))
}

type ReadText = (path: string) => string

/**
 * A limit of a group holds for all groups below it, so every one from ours up to the top counts.
 */
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
 * In a container a group may have another path than it says, and the top one has no limit: a file
 * that is missing says nothing.
 */
function readText(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}
