import { workerStarter } from "../protocol.ts"

const RealWorker = globalThis.Worker
const URLCtor = URL
const { canParse } = URL
const encode = encodeURIComponent

/** Has Workers start with a module of the guest, which gives them sockets. */
export function provideWorkers(): void {
  Object.defineProperty(globalThis, "Worker", {
    value: WorkerWithSockets,
    writable: true,
    configurable: true,
    enumerable: false,
  })
}

class WorkerWithSockets extends RealWorker {
  constructor(specifier: string | URL, options?: WorkerOptions) {
    super(isPlain(specifier, options) ? toStarter(specifier) : specifier, options)
  }
}
Object.defineProperty(WorkerWithSockets, "name", { value: "Worker" })

/** A Worker with permissions of its own may not read the module of the guest. */
function isPlain(specifier: string | URL, options: WorkerOptions | undefined): boolean {
  return canParse(specifier) && (options as { readonly deno?: unknown })?.deno === undefined
}

function toStarter(specifier: string | URL): string {
  return `file://${workerStarter}?${encode(new URLCtor(specifier).href)}`
}
