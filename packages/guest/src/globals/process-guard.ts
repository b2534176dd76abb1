import { ErrorCtor } from "../primordials.ts"
import { failCurrentRun } from "../runs/failures.ts"
import type { NodeProcess } from "./built-ins.ts"

let entry = ""
let guarded: Record<string, unknown> | undefined

/** A val that exits fails its run: the process is shared with other runs. */
export function forbidExit(): void {
  Deno.exit = (code) => refuse(code ?? Deno.exitCode)
}

/**
 * A service manager may send SIGTERM to every process, and Deno would end. The signal is for the
 * server, which lets runs finish and then kills the guest.
 */
export function ignoreSignals(): void {
  for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"] as const)
    Deno.addSignalListener(signal, () => {})
}

function refuse(code: number): never {
  const error = new ErrorCtor(
    `Cannot exit with code ${code}: a val shares its process with other runs`,
  )
  // Reported at once: the val might catch the error.
  failCurrentRun(error)
  throw error
}

/** Hides the paths of the host from the val. */
export function hidePaths(entryUrl: string): void {
  entry = entryUrl
  Object.defineProperty(Deno, "args", { value: Object.freeze([]), configurable: true })
  Object.defineProperty(Deno, "mainModule", { value: entryUrl, configurable: true })
  Deno.execPath = () => "deno"
  if (guarded !== undefined) guarded.argv = ["deno", entry]
}

/** Does the same to Node's `process`, when the val uses it. */
export function guardNodeProcess(process: NodeProcess): void {
  const target = process as unknown as Record<string, unknown>
  guarded = target
  // Node's other ways to exit end in Deno.exit; these two have side effects before.
  target.exit = (code?: number) => refuse(code ?? 0)
  target.abort = () => refuse(134)
  target.argv = ["deno", entry]
  target.execArgv = []
  target.execPath = "deno"
  for (const name of ["geteuid", "getegid"]) target[name] = () => Deno.uid()
  target.getgroups = () => [Deno.gid()]
}
