import type { SandboxLimits } from "../sandbox-limits.ts"

/** What the shell does before it becomes the sandbox. */
export interface ShellSetup {
  /** Where it writes who it is. */
  readonly processPath: string
  /** What bubblewrap reports to, as file descriptor 3; /dev/null if it is not asked to. */
  readonly reportPath: string
  /** What bubblewrap reads its system call filter from, as file descriptor 4. */
  readonly filterPath: string
  readonly joinPaths: readonly string[]
  /** Whether the sandbox's user has no other processes, so that they can be counted. */
  readonly hasOwnUser: boolean
  readonly limits: SandboxLimits
}

/** Blocks of `ulimit -f` as POSIX has them. */
const blockBytes = 512
/**
 * bubblewrap's process outside, the shell before it, and some more: where there is a pids cgroup it
 * is to be the first to say no, since it tells.
 */
const helperProcesses = 8
const shell = "/bin/sh"

/**
 * A shell sets what only a process can set for itself: its control groups, its limits. The command
 * takes its place.
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
 * A process that could not join its groups or take on its limits must not run. The start time in
 * /proc/PID/stat stays the same through every exec, so the line names the sandbox for good. A limit
 * that cannot be set is fine if a stricter one is in force. Shells disagree about the letter for
 * processes. Signals to all processes of a terminal or of a service are for the server, which lets
 * its vals finish; it ends sandboxes with SIGKILL. If the machine runs out of memory, a sandbox has
 * to go before anybody else.
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
