import type { Worker as NodeWorker, WorkerOptions as NodeWorkerOptions } from "node:worker_threads"
import { patchBuiltIns } from "../globals/built-ins.ts"
import { jsonStringify, stringStartsWith, TypeErrorCtor } from "../primordials.ts"
import { workerStarter } from "../protocol.ts"

const RealWorker = globalThis.Worker
const URLCtor = URL
const { canParse } = URL
const encode = encodeURIComponent
const encodePath = encodeURI
const { cwd, readTextFileSync } = Deno
const { defineProperty } = Object

/** Has Workers start with a module of the guest, which gives them sockets. */
export function provideWorkers(): void {
  defineProperty(globalThis, "Worker", {
    value: WorkerWithSockets,
    writable: true,
    configurable: true,
    enumerable: false,
  })
  patchBuiltIns(["worker_threads"], (find) => {
    const threads = find("worker_threads") as { Worker: typeof NodeWorker }
    threads.Worker = withSockets(threads.Worker)
  })
}

class WorkerWithSockets extends RealWorker {
  constructor(specifier: string | URL, options?: WorkerOptions) {
    // Deno throws for other specifiers.
    const url = canParse(specifier) ? toStarter(new URLCtor(specifier).href) : specifier
    super(url, withoutPermissions(options as DenoWorkerOptions))
  }
}
defineProperty(WorkerWithSockets, "name", { value: "Worker" })

type DenoWorkerOptions = WorkerOptions & { readonly deno?: { readonly permissions?: unknown } }

/** Without a flag, Deno ends the whole process when a Worker names permissions. */
function withoutPermissions(options: DenoWorkerOptions | undefined): WorkerOptions | undefined {
  if (options === undefined || options.deno === undefined) return options
  const { permissions = "inherit" } = options.deno
  if (permissions !== "inherit")
    throw new TypeErrorCtor(
      'Cannot start a Worker with permissions of its own: a Worker of a val has those of the val, as with "inherit"',
    )
  return { ...options, deno: undefined } as WorkerOptions
}

function toStarter(url: string): string {
  return `file://${workerStarter}?${encode(url)}`
}

/** Gives sockets to the Workers of Node, which also start with a path, or with code. */
function withSockets(Worker: typeof NodeWorker): typeof NodeWorker {
  class ThreadWithSockets extends Worker {
    constructor(specifier: string | URL, options?: NodeWorkerOptions) {
      super(options?.eval === true ? toStartingCode(specifier) : toThreadUrl(specifier), options)
    }
  }
  defineProperty(ThreadWithSockets, "name", { value: "Worker" })
  return ThreadWithSockets
}

/** Begins in the first line, so that lines keep their numbers. */
function toStartingCode(code: string | URL): string | URL {
  if (typeof code !== "string") return code
  return `(0, eval)(${jsonStringify(`(() => {${readTextFileSync(workerStarter)}})()`)});${code}`
}

/** Node refuses other paths, with an error that says so. */
function toThreadUrl(specifier: string | URL): string | URL {
  if (typeof specifier !== "string") return new URLCtor(toStarter(new URLCtor(specifier).href))
  const isRelative = stringStartsWith(specifier, "./") || stringStartsWith(specifier, "../")
  if (!isRelative && !stringStartsWith(specifier, "/")) return specifier
  const base = `file://${encodePath(cwd())}/`
  return new URLCtor(toStarter(new URLCtor(encodePath(specifier), base).href))
}
