import type { SandboxLimits } from "../sandbox-limits.ts"

/** What the shell sets up before it executes the sandbox's command. */
export interface ShellSetup {
  /** Where it writes its process id. */
  readonly processPath: string
  /** File descriptor 3, to which bubblewrap writes its report; /dev/null without one. */
  readonly reportPath: string
  /** File descriptor 4, from which bubblewrap reads the system call filter. */
  readonly filterPath: string
  /** The files of control groups to which it writes its process id to join. */
  readonly joinPaths: readonly string[]
  /** Whether the sandbox's user has no other processes, so that `ulimit -u` can be used. */
  readonly hasOwnUser: boolean
  readonly limits: SandboxLimits
}

/** The unit of `ulimit -f` in POSIX. */
const blockBytes = 512
/**
 * Processes beside the guest's: bubblewrap's outer process, the shell before it, and some more, so
 * that a pids cgroup reaches its limit first. Unlike `ulimit`, it reports that.
 */
const helperProcesses = 8
const shell = "/bin/sh"

/**
 * A shell sets what a process can only set for itself, which are its control groups and its limits,
 * and then executes the command.
 */
export function toShellCommand(start: ShellSetup, command: readonly string[]): string[] {
  const { limits } = start
  const values = [
    start.processPath,
    start.reportPath,
    start.filterPath,
    limits.openFilesMax,
    Math.max(1, Math.floor(limits.fileBytesMax / blockBytes)),
    limits.cpuSecondsMax,
    start.hasOwnUser ? limits.threadsMax + helperProcesses : "unlimited",
  ]
  return [shell, "-c", script, "sh", ...values.map(String), ...start.joinPaths, "--", ...command]
}

/**
 * - `set -e`: a process that cannot join its groups or set its limits must not run.
 * - `trap`: signals to all processes of a terminal or a service are meant for the server, which lets
 *   its vals finish and ends sandboxes with SIGKILL.
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
exec 3>"$2" 4<"$3"
limit() { ulimit "$1" "$2" 2>/dev/null || [ "$(ulimit -H "$1")" -le "$2" ]; }
limit -c 0
limit -n "$4"
limit -f "$5"
limit -t "$6"
if [ "$7" != unlimited ]; then ulimit -u "$7" 2>/dev/null || limit -p "$7"; fi
shift 7
while [ "$1" != -- ]; do echo $$ >"$1"; shift; done
shift
{ echo 900 >/proc/$$/oom_score_adj; } 2>/dev/null || :
exec "$@"
`
