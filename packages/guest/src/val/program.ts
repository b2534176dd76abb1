import {
  arrayJoin,
  arrayPush,
  ErrorCtor,
  objectKeys,
  RequestCtor,
  ResponseCtor,
  reflectApply,
  responseClone,
} from "../primordials.ts"
import { findListener } from "../servers/listener.ts"
import { isNodeHandler, respondWithListener, toListener } from "../servers/start-servers.ts"

/** A loaded val. */
export interface Program {
  /** Whether it can run again without being evaluated again. */
  readonly isCallable: boolean
  /** Calls the val with a request to its web address. */
  readonly respond: (request: Request) => unknown
  /** Calls the val with arguments. */
  readonly call: (args: readonly unknown[]) => unknown
}

/** What a process serves. */
export interface Serving {
  readonly program: Program
  /** The scheme of its public URL: "http" or "https". */
  readonly scheme: string
  readonly returnBytesMax: number
}

export interface ProgramOptions {
  readonly isHttp: boolean
  readonly endpoint: string
}

type AnyFunction = (...args: unknown[]) => unknown

/**
 * Chooses the server that an http val has started, else the default export, else the only exported
 * function, else the only exported value. A val without exports runs for its side effects.
 */
export function toProgram(
  module: Readonly<Record<string, unknown>>,
  options: ProgramOptions,
): Program {
  if (options.isHttp && findListener() !== undefined)
    return createFunction(respondWithListener as AnyFunction, undefined, options)
  const exported = chooseExport(module)
  if (typeof exported === "function")
    return options.isHttp && isNodeHandler(exported as AnyFunction)
      ? createFunction(toListener(exported) as AnyFunction, undefined, options)
      : createFunction(exported as AnyFunction, undefined, options)
  // For example a Hono app.
  const fetch =
    options.isHttp && typeof exported === "object" && exported !== null
      ? (exported as { fetch?: unknown }).fetch
      : undefined
  return typeof fetch === "function"
    ? createFunction(fetch as AnyFunction, exported, options)
    : createValue(exported)
}

/** A program whose module could not be loaded: every run fails with its error. */
export function createFailedProgram(thrown: unknown): Program {
  const fail = () => {
    throw thrown
  }
  return { isCallable: false, respond: fail, call: fail }
}

function createFunction(
  target: AnyFunction,
  self: unknown,
  { isHttp, endpoint }: ProgramOptions,
): Program {
  return {
    isCallable: true,
    respond: self === undefined ? target : (request) => reflectApply(target, self, [request]),
    // A call without arguments of a val that expects a request gets one.
    call: (args) =>
      reflectApply(target, self, isHttp && args.length === 0 ? [new RequestCtor(endpoint)] : args),
  }
}

/** A Response can be sent once, so each run gets a copy. */
function createValue(value: unknown): Program {
  const get = () => (value instanceof ResponseCtor ? responseClone(value) : value)
  return { isCallable: false, respond: get, call: get }
}

function chooseExport(module: Readonly<Record<string, unknown>>): unknown {
  if ("default" in module) return module.default
  const names = objectKeys(module)
  const functions: string[] = []
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index] as string
    if (typeof module[name] === "function") arrayPush(functions, name)
  }
  const candidates = functions.length > 0 ? functions : names
  if (candidates.length > 1) {
    throw new ErrorCtor(
      `Cannot choose what to run: the val exports ${arrayJoin(candidates, ", ")} and none of them as default`,
    )
  }
  return candidates.length === 0 ? undefined : module[candidates[0] as string]
}
