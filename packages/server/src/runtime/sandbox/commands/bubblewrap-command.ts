import { dirname } from "node:path"
import type { GuestPaths } from "./deno-command.ts"
import type { ToolPaths } from "./tool-command.ts"

/** What the machine has. */
export interface BubblewrapTools {
  readonly bwrap: string
  readonly setpriv: string | undefined
  /** Whether this bubblewrap can forbid further user namespaces. */
  readonly canDisableUserns: boolean
  /** Deno, or Bun for a worker. */
  readonly program: string
  /** What the program and setpriv are linked with. */
  readonly libraries: readonly string[]
  readonly hasFilter: boolean
}

/**
 * There is no /proc in a sandbox, but before Deno parses a module it asks the C library where the
 * stack of the first thread is, which looks it up in /proc/self/maps, and without an answer Deno
 * panics. This one says that it may be anywhere. The price: code that is nested too deeply for the
 * parser ends the process, where Deno would otherwise have made a larger stack.
 */
export const stackMap =
  "00000000-00100000 ---p 00000000 00:00 0\n00100000-ffffffffffffffff rw-p 00000000 00:00 0\n"

/** How things are called inside. */
const names = { deno: "/deno", run: "/run/val", scratch: "/tmp" }
export const insidePaths: GuestPaths = { ...names, guest: "/guest.js", denoDir: "/deno-dir" }
/** What stands for it is `stackMap`. */
export const insideMaps = "/proc/self/maps"

/** The same for a tool. */
export function toInsidePaths(helpers: Readonly<Record<string, string>>): ToolPaths {
  const insideHelpers = Object.fromEntries(Object.keys(helpers).map((name) => [name, `/${name}`]))
  return { ...names, program: "/tool.js", helpers: insideHelpers }
}

/** What a process finds inside, beside its program and the libraries of that. */
export interface Box {
  readonly uid: number | undefined
  /** Undefined to keep the one that bubblewrap is started with. */
  readonly environment: Readonly<Record<string, string>> | undefined
  /** Where the program is, inside. */
  readonly program: string
  /** Files that are read from file descriptors, by their names inside. */
  readonly data?: Readonly<Record<string, number>>
  /** Files and folders of the host, by their names inside. */
  readonly readable: Readonly<Record<string, string>>
  readonly writable: Readonly<Record<string, string>>
  readonly scratchBytesMax: number
  /** Whether bubblewrap says on file descriptor 3 which process is in it. */
  readonly isReported: boolean
  /**
   * Whether the program is the first process inside; otherwise there is one of bubblewrap's, with
   * which all others end.
   */
  readonly isFirst: boolean
}

/**
 * outside: setpriv becomes the sandbox's user, and bubblewrap is started by that user, in a user namespace. Nothing ever runs as root in there.
 * inside:  bubblewrap is started by root and makes no user namespace, for machines that do not let users have them; setpriv comes after it.
 * own:     the server is an ordinary user, and the sandbox is that user in a user namespace.
 */
export type BubblewrapMode = "outside" | "inside" | "own"

/**
 * A sandbox in bubblewrap: who is in it sees its program, its folders and a few files of the
 * system, and no network.
 */
export function toBubblewrapCommand(
  tools: BubblewrapTools,
  way: BubblewrapMode,
  box: Box,
  command: readonly string[],
): string[] {
  const user = [`--reuid=${box.uid}`, `--regid=${box.uid}`, "--clear-groups", "--no-new-privs"]
  const setpriv = tools.setpriv ?? "setpriv"
  return [
    ...(way === "outside" ? [setpriv, ...user] : []),
    tools.bwrap,
    ...toNamespaces(tools, way, box),
    ...toFileSystem(tools, way, box),
    ...(box.isReported ? ["--info-fd", "3"] : []),
    ...(tools.hasFilter ? ["--seccomp", "4"] : []),
    "--",
    ...(way === "inside"
      ? ["/setpriv", ...user, "--inh-caps=-all", "--ambient-caps=-all", "--bounding-set=-all"]
      : []),
    ...command,
  ]
}

function toNamespaces(tools: BubblewrapTools, way: BubblewrapMode, box: Box): string[] {
  const withUser = tools.canDisableUserns
    ? ["--unshare-user", "--disable-userns"]
    : ["--unshare-user"]
  const others = [
    "--unshare-ipc",
    "--unshare-pid",
    "--unshare-net",
    "--unshare-uts",
    "--unshare-cgroup-try",
  ]
  // What setpriv needs to become somebody else and to give up even these.
  const forSetpriv = ["CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP"].flatMap((capability) => [
    "--cap-add",
    capability,
  ])
  return [
    ...others,
    ...(way === "inside" ? [] : withUser),
    ...["--cap-drop", "ALL"],
    ...(way === "inside" ? forSetpriv : []),
    ...["--hostname", "val"],
    "--new-session",
    "--die-with-parent",
    ...(box.isFirst ? ["--as-pid-1"] : []),
    ...(box.environment ? ["--clearenv"] : []),
    ...Object.entries(box.environment ?? {}).flatMap(([name, value]) => ["--setenv", name, value]),
  ]
}

/**
 * There is no /proc but the one link in it that Deno cannot do without, and none of bubblewrap's
 * own /dev: that one is a file system of its own that the guest could fill.
 */
function toFileSystem(tools: BubblewrapTools, way: BubblewrapMode, box: Box): string[] {
  const programs = way === "inside" ? [["/setpriv", tools.setpriv ?? ""] as const] : []
  const readable = [
    [box.program, tools.program] as const,
    ...programs,
    ...Object.entries(box.readable),
  ]
  const data = Object.entries(box.data ?? {})
  const writable = Object.entries(box.writable)
  const devices = ["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"]
  const shared = [...readable, ...writable, ...data].map(([inside]) => inside)
  const parents = new Set([...tools.libraries, ...devices, ...shared].flatMap(listParents))
  return [
    // Those that bubblewrap would make by itself can be entered by their owner only.
    ...[...parents].flatMap((path) => ["--dir", path]),
    ...["--dir", "/proc", "--dir", "/proc/self", "--symlink", box.program, "/proc/self/exe"],
    ...tools.libraries.flatMap((path) => ["--ro-bind", path, path]),
    ...devices.flatMap((path) => ["--dev-bind", path, path]),
    ...readable.flatMap(([inside, outside]) => ["--ro-bind", outside, inside]),
    ...data.flatMap(([inside, descriptor]) => [
      "--perms",
      "0444",
      "--ro-bind-data",
      String(descriptor),
      inside,
    ]),
    ...writable.flatMap(([inside, outside]) => ["--bind", outside, inside]),
    ...["--perms", "1777", "--size", String(box.scratchBytesMax), "--tmpfs", names.scratch],
    ...["--remount-ro", "/"],
    ...["--chdir", names.scratch],
  ]
}

/** From the top down. */
function listParents(path: string): string[] {
  const parent = dirname(path)
  return parent === "/" ? [] : [...listParents(parent), parent]
}
