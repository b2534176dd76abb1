import { ErrorCtor, objectKeys, reflectApply } from "../primordials.ts"
import { failCurrentRun } from "../runs/failures.ts"
import { getBuiltIn, type NodeProcess } from "./built-ins.ts"

let entry = ""
let guarded: Record<string, unknown> | undefined

const { kill: killReal, pid: ownPid } = Deno
const { NotCapable } = Deno.errors

/** A val that exits fails its run: the process is shared with other runs. */
export function forbidExit(): void {
  Deno.exit = (code) => refuse(code ?? Deno.exitCode)
  Deno.kill = (pid, signal) => {
    refuseSignal(pid, signal)
    killReal(pid, signal)
  }
}

/**
 * Signals to itself have no effect, and Deno does not say so; 0 only asks whether there is such a
 * process. For others it has no permission.
 */
function refuseSignal(pid: number, signal: string | number = "SIGTERM"): void {
  if (pid !== ownPid || signal === 0) return
  throw new NotCapable(
    `Cannot send ${signal} to process ${ownPid}: a val shares its process with other runs`,
  )
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
  const { kill } = process
  target.kill = (pid: number, signal?: string | number) => {
    refuseSignal(pid, signal)
    return reflectApply(kill, process, [pid, signal])
  }
  target.argv = ["deno", entry]
  target.execArgv = []
  target.execPath = "deno"
  for (const name of ["geteuid", "getegid"]) target[name] = () => Deno.uid()
  target.getgroups = () => [Deno.gid()]
  target.loadEnvFile = loadEnvFile
}

/** Deno's would set the variables of the process, which are not those of the val. */
function loadEnvFile(path: string | URL = ".env"): void {
  const { readFileSync } = getBuiltIn("fs") as unknown as typeof import("node:fs")
  const { parseEnv } = getBuiltIn("util") as { parseEnv(text: string): Record<string, string> }
  const variables = parseEnv(readFileSync(path, "utf8"))
  const names = objectKeys(variables)
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index] as string
    if (!Deno.env.has(name)) Deno.env.set(name, variables[name] ?? "")
  }
}
