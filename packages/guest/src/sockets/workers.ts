import type { Worker as NodeWorker, WorkerOptions as NodeWorkerOptions } from "node:worker_threads"
import { patchBuiltIns } from "../globals/built-ins.ts"
import { jsonStringify, stringStartsWith } from "../primordials.ts"
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
    super(isPlain(specifier, options) ? toStarter(new URLCtor(specifier).href) : specifier, options)
  }
}
defineProperty(WorkerWithSockets, "name", { value: "Worker" })

/** A Worker with permissions of its own may not read the module of the guest. */
function isPlain(specifier: string | URL, options: WorkerOptions | undefined): boolean {
  return canParse(specifier) && (options as { readonly deno?: unknown })?.deno === undefined
}

function toStarter(url: string): string {
  return `file://${workerStarter}?${encode(url)}`
}

/** The same for the Workers of Node, which also start with a path, or with code. */
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
