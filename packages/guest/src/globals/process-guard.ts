import process from "node:process"
import { ErrorCtor } from "../primordials.ts"
import { failCurrentRun } from "../runs/failures.ts"

/** A val that exits fails its run: the process is shared with other runs. */
export function forbidExit(): void {
  Deno.exit = (code) => refuse(code ?? Deno.exitCode)
  // Node's other ways to exit end in Deno.exit; these two have side effects before.
  const node = process as unknown as Record<string, (code?: number) => never>
  node.exit = (code) => refuse(code ?? 0)
  node.abort = () => refuse(134)
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
  Object.defineProperty(Deno, "args", { value: Object.freeze([]), configurable: true })
  Object.defineProperty(Deno, "mainModule", { value: entryUrl, configurable: true })
  Deno.execPath = () => "deno"
  process.argv = ["deno", entryUrl]
  process.execArgv = []
  process.execPath = "deno"
}
