/**
 * Code that a val runs when it is loaded, before any request: it replaces what the guest might use.
 */
export interface Takeover {
  readonly tries: string
  /**
   * May call `note(value)` with everything it sees, and use `other`, the id of another val's run.
   */
  readonly code: string
  /** Deno itself does not work any more after it, so that the val has no use of its own process. */
  readonly isOwnLoss?: true
}

/** Wraps a method so that the val hears every call of it. */
function hear(target: string, ...names: readonly string[]): string {
  return names
    .map((name) => {
      const key = name.startsWith("Symbol.") ? `[${name}]` : `.${name}`
      return `{ const real = ${target}${key}; ${target}${key} = function (...args) { note(args[0]); return Reflect.apply(real, this, args) } }`
    })
    .join("\n")
}

/** Makes a method useless. */
function ruin(target: string, ...names: readonly string[]): string {
  return names
    .map((name) => `${target}.${name} = () => { throw new Error("FORGED ${name}") }`)
    .join("\n")
}

/** The val observes the guest, and everything continues: it sees nothing of others. */
export const listening: readonly Takeover[] = [
  { tries: "to hear what is made JSON", code: hear("JSON", "stringify", "parse") },
  {
    tries: "to hear what is encoded and decoded",
    code: `${hear("TextEncoder.prototype", "encode", "encodeInto")}\n${hear("TextDecoder.prototype", "decode")}`,
  },
  {
    tries: "to hear what headers are read",
    code: hear("Headers.prototype", "get", "has", "forEach", "append", "set"),
  },
  {
    tries: "to hear what promises are waited for",
    code: hear("Promise.prototype", "then", "catch", "finally"),
  },
  {
    tries: "to hear what is put into arrays",
    code: hear("Array.prototype", "push", "map", "join", "slice", "concat"),
  },
  {
    tries: "to hear how arrays are walked through",
    code: hear("Array.prototype", "Symbol.iterator"),
  },
  {
    tries: "to hear what strings are looked for",
    code: hear("String.prototype", "indexOf", "startsWith", "slice", "split", "replace"),
  },
  {
    tries: "to hear what is matched",
    code: `${hear("RegExp.prototype", "exec", "test")}\n${hear("RegExp.prototype", "Symbol.replace")}`,
  },
  {
    tries: "to hear what maps and sets hold",
    code: `${hear("Map.prototype", "get", "set", "has", "forEach")}\n${hear("Set.prototype", "add", "has", "delete", "forEach")}\n${hear("WeakMap.prototype", "get", "set")}`,
  },
  {
    tries: "to hear what functions are called with",
    code: `const { apply } = Reflect; for (const name of ["call", "apply", "bind"]) { const real = Function.prototype[name]; Object.defineProperty(Function.prototype, name, { value: function (...args) { note(args[0]); return apply(real, this, args) } }) }`,
  },
  {
    tries: "to hear what is read from streams",
    code: `${hear("ReadableStream.prototype", "getReader", "pipeTo", "tee")}\n${hear("ReadableStreamDefaultReader.prototype", "read")}`,
  },
  {
    tries: "to hear what is written to the host",
    code: hear("Uint8Array.prototype.__proto__", "subarray", "set", "slice"),
  },
  {
    tries: "to hear requests before they are its own",
    code: hear("Request.prototype", "text", "json", "clone", "arrayBuffer"),
  },
  {
    tries: "to hear what runs carry with them",
    code: `const { AsyncLocalStorage } = await import("node:async_hooks");\n${hear("AsyncLocalStorage.prototype", "run", "getStore", "enterWith")}`,
  },
  {
    tries: "to hear what is logged",
    code: hear("console", "log", "info", "error", "debug", "warn"),
  },
  {
    tries: "to hear what timers are set",
    code: hear("globalThis", "setTimeout", "setInterval", "queueMicrotask"),
  },
]

/** The val impersonates another run, or turns the guest's tools against it. */
export const takeovers: readonly Takeover[] = [
  {
    tries: "to log for a neighbour by way of JSON.stringify",
    code: `const real = JSON.stringify; JSON.stringify = (value) => typeof value === "string" && value.length === 36 ? real(other) : real(value)`,
  },
  {
    tries: "to give every object the kind and run of a forged message",
    code: `Object.assign(Object.prototype, { kind: "log", run: other, level: "error", message: "FORGED" })`,
  },
  {
    tries: "to give every object a toJSON",
    code: `Object.prototype.toJSON = () => ({ kind: "log", run: other, at: 1, level: "error", message: "FORGED" }); String.prototype.toJSON = () => other`,
  },
  {
    tries: "to give every object a then",
    code: `Object.defineProperty(Object.prototype, "then", { configurable: true, get() { return undefined } })`,
  },
  {
    tries: "to catch every property that is set on objects",
    code: `for (const name of ["id", "run", "status", "headers", "body", "url", "env", "value", "end", "failure"]) Object.defineProperty(Object.prototype, name, { configurable: true, set(value) { note(value); Object.defineProperty(this, name, { value, writable: true, configurable: true, enumerable: true }) } })`,
  },
  {
    tries: "to give every object headers of a failure",
    code: `Object.assign(Object.prototype, { status: 204, headers: { "x-hamlet-failure": "1" }, statusText: "FORGED" })`,
  },
  {
    tries: "to make AsyncLocalStorage forget and lie",
    code: `const { AsyncLocalStorage } = await import("node:async_hooks"); AsyncLocalStorage.prototype.getStore = () => ({ id: other }); AsyncLocalStorage.prototype.run = (store, work, ...args) => work(...args)`,
  },
  {
    tries: "to make the time stand still",
    code: `Date.now = () => Number.NaN; performance.now = () => -1`,
  },
  { tries: "to take JSON away", code: ruin("JSON", "stringify", "parse") },
  {
    tries: "to take the text encoders away",
    code: `${ruin("TextEncoder.prototype", "encode", "encodeInto")}\n${ruin("TextDecoder.prototype", "decode")}`,
  },
  {
    tries: "to take arrays away",
    code: ruin(
      "Array.prototype",
      "push",
      "pop",
      "shift",
      "map",
      "join",
      "forEach",
      "includes",
      "indexOf",
    ),
  },
  {
    tries: "to take the walk through arrays away",
    code: `Array.prototype[Symbol.iterator] = function () { throw new Error("FORGED") }`,
    isOwnLoss: true,
  },
  {
    tries: "to take maps and sets away",
    code: `${ruin("Map.prototype", "get", "set", "has", "delete")}\n${ruin("Set.prototype", "add", "has", "delete")}`,
  },
  {
    tries: "to take regular expressions away",
    code: `${ruin("RegExp.prototype", "exec", "test")}\nRegExp.prototype[Symbol.replace] = () => "FORGED"`,
  },
  {
    tries: "to replace all responses by its own",
    code: `globalThis.Response = class extends Response { get status() { return 418 } }; globalThis.Request = class {}; globalThis.Headers = class {}`,
  },
  {
    tries: "to change every response",
    code: `for (const name of ["status", "headers", "body"]) Object.defineProperty(Response.prototype, name, { get() { throw new Error("FORGED") } })`,
  },
  {
    tries: "to change every request",
    code: `Object.defineProperty(Request.prototype, "url", { get: () => "http://forged.test/" })`,
  },
  {
    tries: "to replace the guest's server by its own",
    code: `Deno.serve = () => { throw new Error("FORGED") }; Deno.upgradeWebSocket = () => { throw new Error("FORGED") }`,
  },
  {
    tries: "to make errors without a stack",
    code: `Error.prepareStackTrace = () => { throw new Error("FORGED") }; Error.stackTraceLimit = 0; Error.captureStackTrace = () => { throw new Error("FORGED") }`,
  },
  {
    tries: "to hear what the host sends by way of errors",
    code: `Error.prepareStackTrace = (error, sites) => { for (const site of sites) note(site.getFunction?.() ?? site.getThis?.()); return "FORGED" }; new Error().stack`,
  },
  {
    tries: "to freeze everything",
    code: `for (const value of [Object, Array, Map, Set, Promise, Response, Request, Headers, JSON, console]) { Object.freeze(value); if (value.prototype) Object.freeze(value.prototype) }`,
  },
  {
    tries: "to take Deno away",
    code: `for (const name of Object.keys(Deno)) try { delete Deno[name] } catch {}`,
  },
  {
    tries: "to listen for everything that goes wrong",
    code: `for (const type of ["error", "unhandledrejection", "beforeunload", "unload"]) globalThis.addEventListener(type, (event) => { note(event); event.preventDefault?.(); event.stopImmediatePropagation?.() }, true)`,
  },
  {
    tries: "to listen for everything that goes wrong as Node does",
    code: `const process = (await import("node:process")).default; for (const type of ["uncaughtException", "unhandledRejection", "exit", "beforeExit"]) process.on(type, (thing) => note(thing)); process.emit("exit", 0)`,
  },
]

/** A module that takes over, then answers like any other: `fine`, what it noted, or a log line. */
export function toTakeoverModule(code: string, other: string): string {
  return `const other = "${other}"
const noted = []
const text = String
const note = (value) => { try { noted[noted.length] = text(value).slice(0, 300) } catch {} }
const RealResponse = Response
const NoteJson = JSON.stringify
try {
${code}
} catch (error) { noted[noted.length] = "could not: " + error }
export default function (request) {
  if (request.url.endsWith("/noted")) { let all = ""; for (let index = 0; index < noted.length; index++) all += noted[index] + "\\n"; return new RealResponse(all) }
  console.log("mine")
  return new RealResponse("fine")
}
`
}
