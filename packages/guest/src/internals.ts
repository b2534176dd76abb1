/**
 * The undocumented parts of Deno that the guest uses, with the reasons. Deno is pinned to one
 * version; if another one lacks a part, the guest does not start and the tests say so.
 */

/**
 * The context of asynchronous code: AsyncLocalStorage keeps its stores in the same object, under
 * numbers.
 */
export type AsyncContext = { readonly [key: string]: unknown }

/**
 * A console that prints through a function; `level` is 0 for debug, 1 for log and info, 2 for warn,
 * 3 for error.
 */
export type PrintingConsole = Console & { indentLevel: number }

interface DenoInternals {
  readonly core: {
    getAsyncContext(): AsyncContext | undefined
    setAsyncContext(context: AsyncContext | undefined): void
    /** Counts what keeps the event loop from waiting. */
    immediateRefCount(increases: boolean): void
    queueImmediate(immediate: object): void
    createSystemTimer(callback: () => void, ms: number, isRefed: boolean): object
    cancelTimer(timer: object): void
    /** Evaluates a script. The name must be a URL. */
    evalContext(
      code: string,
      name: string,
    ): readonly [result: unknown, failure: { readonly thrown: unknown } | null]
    readonly kRefed: symbol
    /** The number of the resource under an object of Deno, such as a connection. */
    readonly internalRidSymbol: symbol
    write(rid: number, bytes: Uint8Array): Promise<number>
    /** The state of a promise, and what it was fulfilled with. */
    getPromiseDetails(promise: Promise<unknown>): readonly [state: number, value: unknown]
  }
  readonly Console: new (print: (text: string, level: number) => void) => PrintingConsole
  inspectArgs(args: readonly unknown[], options: { readonly colors: boolean }): string
  /** Takes over the connection of a request to Deno.serve. */
  upgradeHttpRaw(request: Request): { readonly response: Response; readonly conn: Deno.Conn }
}

/**
 * Removes Deno's internal operations from code that is loaded later: with them a val could flood
 * the guest's sockets, end the process silently, or change what the guest relies on. This is not a
 * security boundary: a Worker has them again, though not the guest's sockets, and a val may guess
 * the number of a socket. The host limits what it accepts from a sandbox.
 */
export function hideInternals(): void {
  const deno = Deno as unknown as { internal?: symbol; [key: symbol]: unknown }
  if (deno.internal !== undefined) delete deno[deno.internal]
  delete deno.internal
}

/**
 * Calls `onLoad` when Deno has loaded `node:process`, on which all other modules of Node depend.
 * It comes late for code that is executing, and early for code that waits for an import.
 */
export function watchProcess(onLoad: () => void): void {
  let bootstrap: unknown
  Object.defineProperty(internals, "__bootstrapNodeProcess", {
    get: () => bootstrap,
    set: (value: unknown) => {
      bootstrap = value
      queueMicrotask(onLoad)
    },
    enumerable: true,
    configurable: true,
  })
}

/** The request as Deno.serve received it, behind the Request that the val sees. */
export interface InnerRequest {
  url(): string
  header(name: string): string | null
  readonly completed?: Promise<void>
}

const internals = readInternals()

/**
 * AsyncLocalStorage does the same through a WeakMap, which costs ten times as much: 4 of the 15 µs
 * that a request takes in all.
 */
export const { getAsyncContext, setAsyncContext } = internals.core
/** Formats as console.log does, including `%s`; Deno.inspect does not support formats. */
export const { inspectArgs } = internals
/** For servers of node:http that accept WebSockets: they write the response themselves. */
export const { upgradeHttpRaw } = internals
export const PrintingConsole = internals.Console

const { immediateRefCount, queueImmediate, kRefed } = internals.core
/** The timers under those of Node, which take time to load. */
export const { createSystemTimer, cancelTimer } = internals.core
/** Evaluates a script without Node's `vm`, which takes time to load. */
export const { evalContext } = internals.core

/**
 * Calls back in the next turn of the event loop, as setImmediate does. To load Node's timers for
 * that takes a tenth of the start of a process.
 */
export function runSoon(callback: () => void): void {
  immediateRefCount(true)
  queueImmediate({
    __proto__: null,
    _idleNext: null,
    _idlePrev: null,
    _onImmediate: callback,
    _argv: undefined,
    _destroyed: false,
    [kRefed]: true,
  })
}

const { write, getPromiseDetails, internalRidSymbol } = internals.core
const fulfilled = 1

/** Writes some of the bytes: returns how many, or a promise of it when none could be written yet. */
export type WriteNow = (bytes: Uint8Array<ArrayBuffer>) => number | Promise<number>

/**
 * Writes to a connection without waiting for the event loop, which a val may never return to. Deno
 * tries a write when it is started; only the promise hides that it is done. It tries 128 times per
 * turn of the event loop.
 */
export function toWriteNow(connection: Deno.Conn): WriteNow {
  const rid = (connection as unknown as Record<symbol, number>)[internalRidSymbol]
  if (typeof rid !== "number")
    throw new Error(`Cannot start on Deno ${Deno.version.deno}: its connections have no resource`)
  return (bytes) => {
    const promise = write(rid, bytes)
    const details = getPromiseDetails(promise)
    return details[0] === fulfilled ? (details[1] as number) : promise
  }
}

const requestKey = symbolOf(new Request("http://localhost"), "request")
const responseKey = symbolOf(new Response(), "response")
const sentKey = symbolOf(new Response(), "serve fast consumed")

/**
 * Its `url` and `header` cost a tenth of those of Request, which creates its Headers on first use.
 */
export function innerRequestOf(request: Request): InnerRequest {
  return (request as unknown as Record<symbol, InnerRequest>)[requestKey] as InnerRequest
}

/** Settles when the response to a request was sent, or could not be sent. */
export async function completionOf(request: Request): Promise<void> {
  await innerRequestOf(request).completed
}

/** The state of a response's body. */
export type BodyState = "static" | "stream" | "used"

/**
 * The state of a response's body. `response.body` would tell too, but creates a stream for every
 * static body. Deno never responds if it is given a response that it cannot send, so the guest
 * checks first.
 */
export function bodyStateOf(response: Response): BodyState {
  const fields = response as unknown as { readonly [key: symbol]: unknown }
  const inner = fields[responseKey] as InnerResponse | undefined
  if (inner === undefined || inner.status === 0 || fields[sentKey] === true) return "used"
  if (inner.body === null) return "static"
  const { body, consumed } = inner.body.streamOrStatic
  if (body === undefined) return "stream"
  return consumed ? "used" : "static"
}

/**
 * The headers of a response, with names in lower case. Reading `headers` would create an object
 * that is rarely needed.
 */
export function headersOfResponse(response: Response): InnerResponse["headerList"] {
  const inner = (response as unknown as { readonly [key: symbol]: unknown })[
    responseKey
  ] as InnerResponse
  return inner.headerList
}

interface InnerResponse {
  readonly headerList: readonly (readonly [name: string, value: string])[]
  /** 0 for Response.error(). */
  readonly status: number
  readonly body: {
    readonly streamOrStatic: { readonly body?: unknown; readonly consumed?: boolean }
  } | null
}

function readInternals(): DenoInternals {
  const deno = Deno as unknown as Record<symbol, DenoInternals> & { readonly internal: symbol }
  const found = deno[deno.internal]
  const parts: unknown[] = [
    found?.core?.getAsyncContext,
    found?.core?.setAsyncContext,
    found?.core?.immediateRefCount,
    found?.core?.queueImmediate,
    found?.core?.createSystemTimer,
    found?.core?.cancelTimer,
    found?.core?.evalContext,
    found?.core?.write,
    found?.core?.getPromiseDetails,
    found?.Console,
    found?.inspectArgs,
    found?.upgradeHttpRaw,
  ]
  if (!found || parts.some((part) => typeof part !== "function"))
    throw new Error(
      `Cannot start on Deno ${Deno.version.deno}: its internals differ from those the guest supports`,
    )
  return found
}

function symbolOf(value: object, description: string): symbol {
  const found = Object.getOwnPropertySymbols(value).find(
    (symbol) => symbol.description === description,
  )
  if (!found)
    throw new Error(
      `Cannot start on Deno ${Deno.version.deno}: its ${value.constructor.name} has no "${description}"`,
    )
  return found
}
