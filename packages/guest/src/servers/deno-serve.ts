import { completionOf } from "../internals.ts"
import { bare, TypeErrorCtor } from "../primordials.ts"
import { clientAddressOf, listen } from "./listener.ts"

type Handler = (request: Request, info: unknown) => unknown

interface ServeOptions {
  readonly handler?: unknown
  readonly hostname?: unknown
  readonly port?: unknown
  readonly signal?: unknown
  readonly onListen?: unknown
  readonly onError?: unknown
}

/**
 * Deno.serve of the val: no port is opened, its handler responds to requests to the val's web
 * address. Takes the same arguments as Deno's own.
 */
export function replaceServe(): void {
  Deno.serve = serve as typeof Deno.serve
}

const defaults = { hostname: "0.0.0.0", port: 8000 }

function serve(first: unknown, second?: unknown): object {
  const options: ServeOptions =
    typeof first === "function"
      ? ((second ?? bare({})) as ServeOptions)
      : ((first ?? bare({})) as ServeOptions)
  const handler = typeof first === "function" ? first : (second ?? options.handler)
  if (typeof handler !== "function")
    throw new TypeErrorCtor("Cannot serve: Deno.serve needs a function that responds to requests")
  const { onError } = options
  const respond =
    typeof onError === "function"
      ? catchErrors(handler as Handler, onError as (error: unknown) => unknown)
      : (handler as Handler)
  const close = listen((request) => respond(request, createInfo(request)))
  return createServer(options, close)
}

function catchErrors(handler: Handler, onError: (error: unknown) => unknown): Handler {
  return async (request, info) => {
    try {
      return await handler(request, info)
    } catch (error) {
      return await onError(error)
    }
  }
}

function createInfo(request: Request): object {
  return {
    remoteAddr: { transport: "tcp", hostname: clientAddressOf(request), port: 0 },
    get completed() {
      return completionOf(request)
    },
  }
}

function createServer(options: ServeOptions, close: () => void): object {
  const addr = {
    transport: "tcp",
    hostname: typeof options.hostname === "string" ? options.hostname : defaults.hostname,
    port: typeof options.port === "number" && options.port > 0 ? options.port : defaults.port,
  }
  const { promise: finished, resolve } = Promise.withResolvers<void>()
  const shutdown = async () => {
    close()
    resolve()
  }
  if (options.signal instanceof AbortSignal) {
    if (options.signal.aborted) void shutdown()
    else options.signal.addEventListener("abort", () => void shutdown(), { once: true })
  }
  if (typeof options.onListen === "function") options.onListen({ ...addr })
  const server = { finished, addr, ref() {}, unref() {}, shutdown }
  return Object.assign(server, { [Symbol.asyncDispose]: shutdown })
}
