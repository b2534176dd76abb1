import { join } from "node:path"
import { Refused } from "@hamlet/kit"
import type { Cgroup } from "../cgroups/cgroup.ts"
import type { SandboxFolder } from "../sandbox-folder.ts"
import type { SandboxLimits } from "../sandbox-limits.ts"
import { bubblewrapFile, processFile } from "../sweep.ts"
import { insideScratch, type SharedFile, toBubblewrapCommand } from "./bubblewrap-command.ts"
import { type Isolation, isRoot } from "./isolation.ts"
import { LaunchedProcess } from "./launched-process.ts"

/**
 * A kind of sandboxed process: what it sees, and how it is called. There are three: programs
 * (`profiles/program-profile.ts`), tools (`profiles/tool-profile.ts`) and workers
 * (`worker-processes/worker-profile.ts`). They are isolated and started in the same way.
 */
export interface Profile<Name extends string = string> {
  /** The path of the program, Deno or Bun, in bubblewrap. */
  readonly program: string
  /** The files and folders of the host that it uses. */
  readonly files: Readonly<Record<Name, SharedFile>>
  /** Files that exist in bubblewrap only, in place of those of the machine. */
  readonly systemFiles: readonly SharedFile[]
  /** `isBoxed`: it runs in bubblewrap. */
  toCommand(paths: SeenPaths<Name>, isBoxed: boolean): readonly string[]
  /** Its whole environment. */
  toEnvironment(paths: SeenPaths<Name>, isBoxed: boolean): Readonly<Record<string, string>>
  /** Whether it starts other processes, which have to end with it. */
  readonly hasChildren: boolean
}

/** The paths of the program, of its empty folder and of the files, as the process sees them. */
export type SeenPaths<Name extends string> = Readonly<Record<Name, string>> & {
  readonly program: string
  readonly scratch: string
}

/** What one process may use. Without a number there is no limit. */
export type ProcessLimits = Pick<SandboxLimits, "cpuSecondsMax" | "scratchBytesMax"> &
  Partial<Pick<SandboxLimits, "openFilesMax" | "fileBytesMax" | "threadsMax">>

/** Where one process runs. */
export interface LaunchPlace {
  readonly id: string
  /** Undefined: the user of the server. */
  readonly uid: number | undefined
  readonly group?: Cgroup | undefined
  /** Its processes are recorded here for a later sweep. Undefined: it ends with the server. */
  readonly folder?: SandboxFolder
  readonly limits: ProcessLimits
  readonly streams: readonly Stream[]
}

type Stream = "ignore" | "pipe" | Uint8Array | number

/** How processes are isolated here. */
export interface LaunchHost {
  readonly isolation: Isolation
  /** The file with the system call filter, which bubblewrap reads. */
  readonly filterPath: string
}

/** Starts a process with its limits, in its control group. This is the only place that does. */
export function launch<Name extends string>(
  host: LaunchHost,
  profile: Profile<Name>,
  place: LaunchPlace,
): LaunchedProcess {
  const { bubblewrap } = host.isolation
  const { id, group, folder } = place
  const reportPath = bubblewrap && folder && join(folder.path, bubblewrapFile)
  const { command, environment } = bubblewrap
    ? toBoxed(bubblewrap, profile, place)
    : toBare(host.isolation, profile, place)
  const redirections = bubblewrap ? listRedirections(host, profile, reportPath) : []
  const child = Bun.spawn(toShellCommand(host.isolation, place, redirections, command), {
    cwd: bubblewrap || !folder ? "/" : folder.scratch,
    env: environment,
    // Bun takes more than three, which its types do not say.
    stdio: [...place.streams] as ["ignore", "pipe", "pipe"],
    // In a process group of its own, so that Ctrl-C in the server's terminal does not reach it.
    detached: true,
  })
  const { hasChildren } = profile
  return new LaunchedProcess(child, group, { id, reportPath, isBoxed: !!bubblewrap, hasChildren })
}

interface Plan {
  readonly command: readonly string[]
  /** The environment of the shell. */
  readonly environment: Readonly<Record<string, string>>
}

function toBoxed<Name extends string>(
  { tools, mode }: NonNullable<Isolation["bubblewrap"]>,
  profile: Profile<Name>,
  { uid, folder, limits: { scratchBytesMax } }: LaunchPlace,
): Plan {
  const { program } = profile
  const files = Object.values<SharedFile>(profile.files)
  const paths = toSeenPaths(profile, program, insideScratch, ({ inside }) => inside)
  const box = {
    uid,
    program,
    scratchBytesMax,
    environment: profile.toEnvironment(paths, true),
    files: [...profile.systemFiles, ...files],
    isReported: folder !== undefined,
    // When the server is killed, bubblewrap's outer process cannot kill a process of another user,
    // but it can kill bubblewrap's process 1 inside. Sandboxes with a folder are swept.
    isFirst: folder !== undefined || mode !== "inside",
  }
  const command = toBubblewrapCommand(tools, mode, box, profile.toCommand(paths, true))
  return { command, environment: {} }
}

function toBare<Name extends string>(
  { program, setpriv }: Isolation,
  profile: Profile<Name>,
  { uid, folder }: LaunchPlace,
): Plan {
  const paths = toSeenPaths(profile, program, folder?.scratch ?? "", ({ outside }) => outside)
  return {
    command: [...toPrefix(setpriv, uid), ...profile.toCommand(paths, false)],
    environment: profile.toEnvironment(paths, false),
  }
}

function toSeenPaths<Name extends string>(
  { files }: Profile<Name>,
  program: string,
  scratch: string,
  toPath: (file: SharedFile) => string,
): SeenPaths<Name> {
  const entries = Object.entries<SharedFile>(files).map(([name, file]) => [name, toPath(file)])
  return { ...Object.fromEntries(entries), program, scratch } as SeenPaths<Name>
}

/** A command prefix that switches to the sandbox's user, and kills the process with the server. */
function toPrefix(setpriv: string | undefined, uid: number | undefined): string[] {
  if (isRoot && uid !== undefined && !setpriv)
    throw new Refused(
      "sandbox_unavailable",
      "Cannot start a sandbox: the server is root, and setpriv (util-linux) is not installed",
    )
  const user = [
    `--reuid=${uid}`,
    `--regid=${uid}`,
    "--clear-groups",
    "--no-new-privs",
    "--inh-caps=-all",
    "--bounding-set=-all",
  ]
  // Without `--pdeathsig` (Linux only) a process has to notice by itself that its server was killed.
  return setpriv ? [setpriv, ...(uid === undefined ? [] : user), "--pdeathsig=KILL"] : []
}

/** A file descriptor of the process with its direction, such as "3>", and the file behind it. */
type Redirection = readonly [descriptor: string, path: string]

/**
 * The file descriptors of bubblewrap. Processes that share an open file reopen it, so that each has
 * a read position of its own.
 */
function listRedirections(
  { filterPath }: LaunchHost,
  profile: Profile,
  reportPath: string | undefined,
): Redirection[] {
  const shared = [...profile.systemFiles, ...Object.values(profile.files)]
  return [
    ...(reportPath === undefined ? [] : [["3>", reportPath] as const]),
    ["4<", filterPath],
    ...shared.flatMap(({ descriptor }) =>
      descriptor === undefined ? [] : [[`${descriptor}<`, `/proc/self/fd/${descriptor}`] as const],
    ),
  ]
}

/** The unit of `ulimit -f` in POSIX. */
const blockBytes = 512
/**
 * Processes beside the guest's: bubblewrap's outer process, the shell before it, and some more, so
 * that a pids cgroup reaches its limit first. Unlike `ulimit`, it reports that.
 */
const helperProcesses = 8

/**
 * A shell sets what a process can only set for itself, which are its control groups and its limits,
 * and then executes the command.
 */
function toShellCommand(
  { hasOwnUser }: Isolation,
  { folder, group, limits }: LaunchPlace,
  redirections: readonly Redirection[],
  command: readonly string[],
): string[] {
  const { openFilesMax, fileBytesMax, cpuSecondsMax, threadsMax } = limits
  const values = [
    folder ? join(folder.path, processFile) : "/dev/null",
    openFilesMax ?? noLimit,
    fileBytesMax === undefined ? noLimit : Math.max(1, Math.floor(fileBytesMax / blockBytes)),
    Math.ceil(cpuSecondsMax),
    // `ulimit -u` counts all processes of the user.
    hasOwnUser && threadsMax !== undefined ? threadsMax + helperProcesses : noLimit,
  ]
  return [
    "/bin/sh",
    "-c",
    script,
    "sh",
    ...values.map(String),
    ...redirections.flat(),
    "--",
    ...(group?.joinPaths ?? []),
    "--",
    ...command,
  ]
}

const noLimit = "unlimited"

/**
 * - `set -e`: a process that cannot join its groups or set its limits must not run.
 * - `trap`: signals to all processes of a terminal or a service are meant for the server, which lets
 *   its programs finish and ends sandboxes with SIGKILL.
 * - `$1`: the start time in /proc/PID/stat stays the same through every exec, so that the line
 *   identifies the sandbox.
 * - `limit`: a limit that cannot be set is fine if a stricter one is in force. Shells use different
 *   letters for the number of processes.
 * - `oom_score_adj`: when the machine runs out of memory, the kernel kills sandboxes first.
 */
const script = `
set -e
trap "" HUP INT TERM
if read -r line 2>/dev/null </proc/$$/stat; then echo "$line" >"$1"; else echo $$ >"$1"; fi
limit() {
  [ "$2" = ${noLimit} ] || ulimit "$1" "$2" 2>/dev/null || [ "$(ulimit -H "$1")" -le "$2" ]
}
limit -c 0
limit -n "$2"
limit -f "$3"
limit -t "$4"
[ "$5" = ${noLimit} ] || ulimit -u "$5" 2>/dev/null || limit -p "$5"
shift 5
while [ "$1" != -- ]; do eval "exec $1\\"\\$2\\""; shift 2; done
shift
while [ "$1" != -- ]; do echo $$ >"$1"; shift; done
shift
{ echo 900 >/proc/$$/oom_score_adj; } 2>/dev/null || :
exec "$@"
`
