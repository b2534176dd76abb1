/**
 * All that the guest uses of Deno without its being documented, with the reason. Deno is pinned to
 * one version; when another one no longer has a part of it, the guest does not start, and the suite
 * says so.
 */

/**
 * What follows a piece of asynchronous work about: AsyncLocalStorage keeps its stores in the same
 * object, under numbers.
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
  }
  readonly Console: new (print: (text: string, level: number) => void) => PrintingConsole
  inspectArgs(args: readonly unknown[], options: { readonly colors: boolean }): string
}

/**
 * Takes Deno's own operations away from what is loaded later: with them a val could write to the
 * guest's sockets as fast as the machine can, end the process without a word, or change what the
 * guest relies on. It is no wall, for a Worker has them again, though not the guest's sockets, and
 * a val may still guess the number of a socket: what the host takes from a sandbox is limited
 * there.
 */
export function hideInternals(): void {
  const deno = Deno as unknown as { internal?: symbol; [key: symbol]: unknown }
  if (deno.internal !== undefined) delete deno[deno.internal]
  delete deno.internal
}

/** The request as Deno.serve got it, behind the Request that the val sees. */
export interface InnerRequest {
  url(): string
  header(name: string): string | null
}

const internals = readInternals()

/**
 * AsyncLocalStorage does the same through a WeakMap, which costs ten times as much: 4 of the 15 µs
 * that a request takes in all.
 */
export const { getAsyncContext, setAsyncContext } = internals.core
/** Formats as console.log does, `%s` and all; Deno.inspect knows nothing of formats. */
export const { inspectArgs } = internals
export const PrintingConsole = internals.Console

const requestKey = symbolOf(new Request("http://localhost"), "request")
const responseKey = symbolOf(new Response(), "response")
const sentKey = symbolOf(new Response(), "serve fast consumed")

/**
 * Its `url` and `header` cost a tenth of those of Request, whose Headers are made when first asked
 * for.
 */
export function innerRequestOf(request: Request): InnerRequest {
  return (request as unknown as Record<symbol, InnerRequest>)[requestKey] as InnerRequest
}

/** What there is to send. */
export type BodyState = "static" | "stream" | "used"

/**
 * What there is to send of a response. `response.body` would tell as well, but makes a stream of
 * every body that is none. Given a response that it cannot send, Deno never answers the request, so
 * the guest has to know before.
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
 * Its headers, with names in lower case. To ask for `headers` would make an object of each response
 * that nobody looks at.
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
    found?.Console,
    found?.inspectArgs,
  ]
  if (!found || parts.some((part) => typeof part !== "function"))
    throw new Error(
      `Cannot start on Deno ${Deno.version.deno}: its internals are not those that the guest knows`,
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
