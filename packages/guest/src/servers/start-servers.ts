import type http from "node:http"
import { getBuiltIn, prepareBuiltIns } from "../globals/built-ins.ts"
import { limits } from "../limits.ts"
import { ErrorCtor, functionText, hardenPattern, matchPattern, objectKeys } from "../primordials.ts"
import { addRequestFields, addResponseMethods, parseBody } from "./express-methods.ts"
import { findListener, isListenerExpected, type Listener, waitForListener } from "./listener.ts"
import { respondWith } from "./node-requests.ts"

type NodeHandler = (request: http.IncomingMessage, response: http.ServerResponse) => unknown

/**
 * Called when the module of an http val was evaluated. An exported app of a framework, which only
 * has `listen`, is told to listen. Frameworks may take a moment for it, and so may a val that
 * exports nothing and has loaded a module for servers.
 */
export function startServers(module: Readonly<Record<string, unknown>>): Promise<void> | undefined {
  if (findListener() !== undefined) return undefined
  const app = module.default
  if (isApp(app)) {
    app.listen({ port: 0 })
    return waitForListener(limits.listenMsMax)
  }
  return objectKeys(module).length === 0 && isListenerExpected()
    ? waitForListener(limits.listenMsMax)
    : undefined
}

/** For example the app of express, which is a function, or a server of node:http. */
function isApp(value: unknown): value is { listen(options: object): unknown } {
  if (value === null || (typeof value !== "object" && typeof value !== "function")) return false
  const { listen, fetch } = value as { readonly listen?: unknown; readonly fetch?: unknown }
  return typeof listen === "function" && typeof fetch !== "function"
}

/** Responds with the server that the val has started. */
export function respondWithListener(request: Request): unknown {
  const listener = findListener()
  if (listener === undefined) throw new ErrorCtor("Cannot respond: the val has closed its server")
  return listener(request)
}

/** `(req, res)`, as Node calls it: what marks such a function is the name of its second parameter. */
const nodeParameters = hardenPattern(
  /^(?:async\s+)?(?:function\b)?\s*[\w$]*\s*\(\s*[\w$]+\s*,\s*_?(?:res|resp|response|rep|reply)\b/,
)

/** Whether a function expects a request and a response of node:http. */
export function isNodeHandler(target: (...args: never[]) => unknown): boolean {
  return target.length >= 2 && matchPattern(functionText(target), nodeParameters) !== null
}

/**
 * Calls a function with a request and a response of node:http, which also have the fields and
 * methods of Express that handlers of serverless platforms use.
 */
export function toListener(handler: unknown): Listener {
  prepareBuiltIns(["http"])
  const { createServer } = getBuiltIn("http") as unknown as typeof http
  return async (request) => {
    const body = await parseBody(request)
    const server = createServer((incoming, response) => {
      addRequestFields(incoming, body)
      addResponseMethods(response)
      return (handler as NodeHandler)(incoming, response)
    })
    return await respondWith(server, request)
  }
}
