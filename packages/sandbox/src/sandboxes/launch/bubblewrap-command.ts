import { dirname } from "node:path"

/** The programs and libraries of this machine that sandboxes need. */
export interface BubblewrapTools {
  readonly bwrap: string
  readonly setpriv: string | undefined
  /** Whether this bubblewrap can forbid nested user namespaces. */
  readonly canDisableUserns: boolean
  /** Deno, or Bun for a worker. */
  readonly program: string
  /** The shared libraries of the program and of setpriv. */
  readonly libraries: readonly string[]
  readonly hasFilter: boolean
}

/** The empty folder of every sandbox, and the only one that it can always write to. */
export const insideScratch = "/tmp"

/**
 * The content of /proc/self/maps in a sandbox, which has no real /proc. Before Deno parses a
 * module, it asks the C library for the stack of the first thread, which reads that file; without
 * it Deno panics. This text says that the stack may be anywhere. The price: code that is nested too
 * deeply for the parser ends the process, where Deno would otherwise allocate a larger stack.
 */
export const stackMap = {
  inside: "/proc/self/maps",
  content:
    "00000000-00100000 ---p 00000000 00:00 0\n00100000-ffffffffffffffff rw-p 00000000 00:00 0\n",
}

/** A file or folder of the host that a process sees. */
export interface SharedFile {
  /** Its path in the sandbox. */
  readonly inside: string
  readonly outside: string
  /** In the sandbox, it is a file with the content that this file descriptor has. */
  readonly descriptor?: number | undefined
  readonly isWritable?: boolean
  /** In the sandbox, it is an empty folder for so many bytes. */
  readonly emptyBytesMax?: number | undefined
}

/** What a sandbox contains, beside its program and the libraries of that. */
export interface Box {
  readonly uid: number | undefined
  readonly environment: Readonly<Record<string, string>>
  /** The path of the program inside. */
  readonly program: string
  readonly files: readonly SharedFile[]
  readonly scratchBytesMax: number
  /** Whether bubblewrap writes the id of the inner process to file descriptor 3. */
  readonly isReported: boolean
  /**
   * Whether the program is process 1 inside. Otherwise bubblewrap is, and all others end with it.
   */
  readonly isFirst: boolean
}

/**
 * Where the sandbox switches to a user of its own.
 *
 * outside:  setpriv switches to the sandbox's user, which starts bubblewrap in a user namespace.
 *           Nothing runs as root in the sandbox.
 * inside:   root starts bubblewrap without a user namespace, and setpriv switches the user inside.
 *           For machines that do not allow users to create namespaces.
 * own:      the server is an ordinary user, and so is the sandbox, in a user namespace.
 */
export type BubblewrapMode = "outside" | "inside" | "own"

/**
 * The command of a sandbox in bubblewrap. The process in it sees its program, its folders and a few
 * files of the system, and no network.
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
  // setpriv needs these to switch the user, and then drops them.
  const forSetpriv = ["CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP"].flatMap((capability) => [
    "--cap-add",
    capability,
  ])
  return [
    ...others,
    ...(way === "inside" ? [] : withUser),
    "--cap-drop",
    "ALL",
    ...(way === "inside" ? forSetpriv : []),
    "--hostname",
    "val",
    "--new-session",
    "--die-with-parent",
    ...(box.isFirst ? ["--as-pid-1"] : []),
    "--clearenv",
    ...Object.entries(box.environment).flatMap(([name, value]) => ["--setenv", name, value]),
  ]
}

/**
 * There is no /proc, except for the one link in it that Deno needs. Bubblewrap's own /dev is not
 * used: it is a file system that the guest could fill.
 */
function toFileSystem(tools: BubblewrapTools, way: BubblewrapMode, box: Box): string[] {
  const files: readonly SharedFile[] = [
    { inside: box.program, outside: tools.program },
    ...(way === "inside" ? [{ inside: "/setpriv", outside: tools.setpriv ?? "" }] : []),
    ...box.files,
  ]
  const devices = ["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"]
  const shared = files.map(({ inside }) => inside)
  const parents = new Set([...tools.libraries, ...devices, ...shared].flatMap(listParents))
  return [
    // Bubblewrap would create parents that only their owner can enter.
    ...[...parents].flatMap((path) => ["--dir", path]),
    "--dir",
    "/proc",
    "--dir",
    "/proc/self",
    "--symlink",
    box.program,
    "/proc/self/exe",
    ...tools.libraries.flatMap((path) => ["--ro-bind", path, path]),
    ...devices.flatMap((path) => ["--dev-bind", path, path]),
    ...files.flatMap(toBind),
    ...toEmptyFolder(insideScratch, box.scratchBytesMax),
    "--remount-ro",
    "/",
    "--chdir",
    insideScratch,
  ]
}

function toEmptyFolder(inside: string, bytesMax: number): string[] {
  return ["--perms", "1777", "--size", String(bytesMax), "--tmpfs", inside]
}

function toBind(file: SharedFile): string[] {
  const { inside, outside, descriptor, isWritable, emptyBytesMax } = file
  if (emptyBytesMax !== undefined) return toEmptyFolder(inside, emptyBytesMax)
  if (descriptor !== undefined)
    return ["--perms", "0444", "--ro-bind-data", String(descriptor), inside]
  return [isWritable ? "--bind" : "--ro-bind", outside, inside]
}

/** All parent folders, the topmost first. */
function listParents(path: string): string[] {
  const parent = dirname(path)
  return parent === "/" ? [] : [...listParents(parent), parent]
}
