import { join } from "node:path"
import { tryReadText } from "@hamlet/kit"

/** The controllers that sandboxes use. On version 1, `cpuacct` counts CPU time. */
export type Controller = "memory" | "pids" | "cpu" | "cpuacct"

/** The server's own group in one hierarchy, and the controllers that are available there. */
export interface OwnGroup {
  readonly version: 1 | 2
  readonly folder: string
  readonly controllers: readonly Controller[]
}

const controllers: readonly Controller[] = ["memory", "pids", "cpu", "cpuacct"]

/**
 * Finds the groups of this process. Skips a hierarchy that is not mounted, or whose mount does not
 * include our group.
 */
export function findOwnGroups(read: (path: string) => string = tryReadText): OwnGroup[] {
  const memberships = read("/proc/self/cgroup").split("\n").map(parseMembership)
  return read("/proc/self/mountinfo")
    .split("\n")
    .flatMap((line) => {
      const mount = parseMount(line)
      const path =
        mount &&
        memberships.find((membership) => membership && isOfMount(membership.names, mount))?.path
      const folder = mount && path !== undefined ? toFolder(mount, path) : undefined
      if (!mount || folder === undefined) return []
      const named =
        mount.version === 1
          ? mount.options
          : read(join(folder, "cgroup.controllers")).trim().split(" ")
      const offered = controllers.filter((name) => named.includes(name))
      return offered.length === 0 ? [] : [{ version: mount.version, folder, controllers: offered }]
    })
}

interface Mount {
  readonly version: 1 | 2
  readonly root: string
  readonly folder: string
  readonly options: readonly string[]
}

/** `36 35 98:0 /root /mount/point rw,noatime - cgroup cgroup rw,memory` */
function parseMount(line: string): Mount | undefined {
  const [before = "", after = ""] = line.split(" - ")
  const [, , , root = "", folder = ""] = before.split(" ")
  const [type, , options = ""] = after.split(" ")
  if (type !== "cgroup" && type !== "cgroup2") return undefined
  return { version: type === "cgroup2" ? 2 : 1, root, folder, options: options.split(",") }
}

/** `4:memory:/path` on version 1, `0::/path` on version 2. */
function parseMembership(
  line: string,
): { readonly names: readonly string[]; readonly path: string } | undefined {
  const match = /^\d+:([^:]*):(\/.*)$/.exec(line)
  return match
    ? { names: (match[1] ?? "").split(",").filter(Boolean), path: match[2] ?? "" }
    : undefined
}

function isOfMount(names: readonly string[], mount: Mount): boolean {
  return mount.version === 2
    ? names.length === 0
    : names.length > 0 && names.every((name) => mount.options.includes(name))
}

/** In a container, only a part of the hierarchy may be mounted. */
function toFolder({ root, folder }: Mount, path: string): string | undefined {
  if (path.startsWith("/..")) return undefined
  if (root === "/") return join(folder, path)
  return path === root || path.startsWith(`${root}/`)
    ? join(folder, path.slice(root.length))
    : undefined
}
