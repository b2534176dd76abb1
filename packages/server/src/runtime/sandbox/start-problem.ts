import { accessSync, constants } from "node:fs"
import type { SandboxExit } from "./sandbox-exit.ts"

/** What the errors of the system mean for whoever has to do something about them. */
const problems: Readonly<Record<string, string>> = {
  EAGAIN:
    'the system lets the server start no more processes; raise "ulimit -u", or pids.max of its control group',
  EMFILE: 'the server has too many files open; raise "ulimit -n"',
  ENFILE: "the machine has too many files open",
  ENOMEM: "the machine has no memory left",
  ENOSPC: "the disk of the temporary folder is full",
  EDQUOT: "the disk quota of the temporary folder is used up",
  EROFS: "the temporary folder cannot be written to",
}

/**
 * Why no sandbox can be started, as far as one can tell without trying again: the end of a
 * sentence.
 */
export function findStartProblem(
  error: unknown,
  programs: Readonly<Record<string, string>>,
): string | undefined {
  for (const [name, path] of Object.entries(programs))
    if (!canExecute(path)) return `${name} is not at "${path}" any more`
  const { code, cause } = error instanceof Error ? (error as NodeJS.ErrnoException) : {}
  // A sandbox needs far fewer threads for its start than it may have: a limit of the whole server
  // was reached.
  if ((cause as Partial<SandboxExit> | undefined)?.reason === "processes") return problems.EAGAIN
  return problems[code ?? ""]
}

function canExecute(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
