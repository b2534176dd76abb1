import { accessSync, constants } from "node:fs"
import type { SandboxExit } from "./sandbox-exit.ts"

/** What system errors mean for the operator. */
const problems: Readonly<Record<string, string>> = {
  EAGAIN:
    'the server cannot start more processes; raise "ulimit -u", or pids.max of its control group',
  EMFILE: 'the server has too many files open; raise "ulimit -n"',
  ENFILE: "the machine has too many files open",
  ENOMEM: "the machine has no memory left",
  ENOSPC: "the disk of the temporary folder is full",
  EDQUOT: "the disk quota of the temporary folder is used up",
  EROFS: "the temporary folder is read-only",
}

/** Why no sandbox can be started, as the end of a sentence. Undefined when the reason is unknown. */
export function findStartProblem(
  error: unknown,
  programs: Readonly<Record<string, string>>,
): string | undefined {
  for (const [name, path] of Object.entries(programs))
    if (!canExecute(path)) return `${name} is no longer at "${path}"`
  const { code, cause } = error instanceof Error ? (error as NodeJS.ErrnoException) : {}
  // A sandbox needs far fewer threads to start than its limit, so the server's limit was reached.
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
