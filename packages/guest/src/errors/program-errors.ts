import type childProcess from "node:child_process"
import { patchBuiltIns } from "../globals/built-ins.ts"
import {
  ErrorCtor,
  hardenPattern,
  matchPattern,
  reflectApply,
  stringStartsWith,
} from "../primordials.ts"
import { toProgramMessage } from "./permission-errors.ts"

type Start = (...args: unknown[]) => unknown
type Child = childProcess.ChildProcess & { readonly spawnfile?: string }

/** How zx says that it has found no shell. */
const noShell = hardenPattern(/^No (?:quote function is defined|shell is available): /)

/** The message of an error, with the reason where a package has not heard it. */
export function explainMissingShell(message: string): string {
  return matchPattern(message, noShell) === null ? message : toProgramMessage("a shell")
}

/**
 * A val cannot start programs. Deno looks a program up before it asks for the permission and finds
 * none, so without this its message would be that this one program is missing.
 */
export function explainProgramErrors(): void {
  Deno.Command = class Command extends Deno.Command {
    readonly #program: string
    constructor(program: string | URL, options?: Deno.CommandOptions) {
      super(program, options)
      this.#program = `${program}`
    }
    override async output(): Promise<Deno.CommandOutput> {
      try {
        return await super.output()
      } catch (error) {
        explain(error, this.#program)
        throw error
      }
    }
    override outputSync(): Deno.CommandOutput {
      return explained(() => super.outputSync(), this.#program)
    }
    override spawn(): Deno.ChildProcess {
      return explained(() => super.spawn(), this.#program)
    }
  }
  patchBuiltIns(["child_process", "cluster"], (find) => {
    const module = find("child_process") as unknown as typeof childProcess & Record<string, unknown>
    explainEvents(module.ChildProcess.prototype as Child)
    for (const name of ["execSync", "execFileSync", "spawnSync"])
      module[name] = explainResult(module[name] as Start)
  })
}

/**
 * `spawn`, `exec`, `execFile` and `fork` report the error with an event of the child. Until then the
 * child has no process, which Deno does not expect.
 */
function explainEvents(prototype: Child): void {
  for (let index = 0; index < referenceNames.length; index += 1) {
    const name = referenceNames[index] as "ref" | "unref"
    const change = prototype[name]
    prototype[name] = function (this: Child) {
      if (this.pid !== undefined) reflectApply(change, this, [])
    }
  }
  const { emit } = prototype
  prototype.emit = function (this: Child, ...args: unknown[]): boolean {
    if (args[0] === "error") explain(args[1], this.spawnfile ?? "")
    return reflectApply(emit as Start, this, args) as boolean
  } as typeof emit
}

const referenceNames = ["ref", "unref"]

/** The synchronous functions throw the error or return it; packages read its `code`. */
function explainResult(start: Start): Start {
  return function (this: unknown, ...args: unknown[]): unknown {
    const program = `${args[0]}`
    const result = explained(() => reflectApply(start, this, args), program)
    explain((result as { error?: unknown } | null)?.error, program)
    return result
  }
}

function explained<T>(start: () => T, program: string): T {
  try {
    return start()
  } catch (error) {
    explain(error, program)
    throw error
  }
}

/**
 * Only the message changes: packages that look for a program read the `code` of the error. A refused
 * permission has been explained already.
 */
function explain(error: unknown, program: string): void {
  if (error instanceof ErrorCtor && !stringStartsWith(error.message, "Cannot start "))
    error.message = toProgramMessage(`"${program}"`)
}
