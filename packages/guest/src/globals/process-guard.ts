import process from "node:process"
import { ErrorCtor } from "../primordials.ts"
import { failCurrentRun } from "../runs/failures.ts"

/** A val that exits fails its run; the process is not its own, since other runs are in it. */
export function forbidExit(): void {
  Deno.exit = (code) => refuse(code ?? Deno.exitCode)
  // What else Node has for it ends in Deno.exit; these two have side effects before they get there.
  const node = process as unknown as Record<string, (code?: number) => never>
  node.exit = (code) => refuse(code ?? 0)
  node.abort = () => refuse(134)
}

/**
 * A service manager may send SIGTERM to every process there is, and Deno would end. It is for the
 * server, which lets runs finish and then ends the guest with a signal that cannot be caught.
 */
export function ignoreSignals(): void {
  for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"] as const)
    Deno.addSignalListener(signal, () => {})
}

function refuse(code: number): never {
  const error = new ErrorCtor(
    `Cannot exit with code ${code}: a val shares its process with other runs`,
  )
  // Said at once: thrown alone, it might be caught.
  failCurrentRun(error)
  throw error
}

/** The paths of the host say nothing to a val and are nobody's business. */
export function hidePaths(entryUrl: string): void {
  Object.defineProperty(Deno, "args", { value: Object.freeze([]), configurable: true })
  Object.defineProperty(Deno, "mainModule", { value: entryUrl, configurable: true })
  Deno.execPath = () => "deno"
  process.argv = ["deno", entryUrl]
  process.execArgv = []
  process.execPath = "deno"
}
