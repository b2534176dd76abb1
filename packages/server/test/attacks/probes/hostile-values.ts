/** A value that a val logs, throws or returns to break its reader. */
export interface HostileValue {
  readonly tries: string
  /** The body of the val's function of `request`. */
  readonly code: string
  /** The status of the answer. */
  readonly status: number
  /** How the run ends, as `status name: message`. */
  readonly run: RegExp
  /**
   * The value takes much memory, or long, so that others would not be unaffected in the same
   * process.
   */
  readonly isLarge?: true
}

const fine = { status: 200, run: /^succeeded $/ }

export const hostileValues: readonly HostileValue[] = [
  { tries: "to throw null", code: "throw null", status: 502, run: /^failed / },
  { tries: "to throw undefined", code: "throw undefined", status: 502, run: /^failed / },
  { tries: "to throw a symbol", code: `throw Symbol("x")`, status: 502, run: /^failed / },
  { tries: "to throw a function", code: "throw () => {}", status: 502, run: /^failed / },
  {
    tries: "to throw an error whose parts throw",
    code: `throw Object.defineProperties(new Error(), { name: { get() { throw 1 } }, message: { get() { throw 2 } }, stack: { get() { throw 3 } }, cause: { get() { throw 4 } } })`,
    status: 502,
    run: /^failed /,
  },
  {
    tries: "to throw an error whose parts are no texts",
    code: `throw Object.assign(new Error(), { name: 1, message: { a: 1 }, stack: [] })`,
    status: 502,
    run: /^failed /,
  },
  {
    tries: "to throw an error that is its own cause",
    code: `const error = new Error("loop"); error.cause = error; throw error`,
    status: 502,
    run: /^failed Error: loop/,
  },
  {
    tries: "to throw a proxy that resists",
    code: `throw new Proxy({}, { get() { throw new Error("trap") }, getPrototypeOf() { throw new Error("trap") }, ownKeys() { throw new Error("trap") }, has() { throw new Error("trap") } })`,
    status: 502,
    run: /^failed /,
  },
  {
    tries: "to throw an error of 50 MB",
    isLarge: true,
    code: `throw new Error("x".repeat(50 * 1024 ** 2))`,
    status: 502,
    run: /^failed Error: x{1000}/,
  },
  {
    tries: "to throw an error in words that are markup",
    code: `throw new Error("</pre><script>alert(1)</script>")`,
    status: 502,
    run: /^failed Error: <\/pre><script>/,
  },
  {
    tries: "to throw a million errors in one",
    isLarge: true,
    code: `throw new AggregateError(Array.from({ length: 100_000 }, () => new Error("x")), "many")`,
    status: 502,
    run: /^failed AggregateError: many/,
  },
  {
    tries: "to throw in a microtask",
    code: `queueMicrotask(() => { throw new Error("later") }); await new Promise(() => {})`,
    status: 502,
    run: /^failed Error: later/,
  },
  {
    tries: "to throw in a timer",
    code: `setTimeout(() => { throw new Error("later") }, 1); await new Promise(() => {})`,
    status: 502,
    run: /^failed Error: later/,
  },
  {
    tries: "to leave a rejection to nobody",
    code: `Promise.reject(new Error("nobody")); await new Promise(() => {})`,
    status: 502,
    run: /^failed Error: nobody/,
  },
  {
    tries: "to overflow the stack",
    isLarge: true,
    code: `const dive = () => dive() + 1; return String(dive())`,
    status: 502,
    run: /^failed RangeError: Maximum call stack/,
  },
  {
    tries: "to return a proxy of a response",
    code: `return new Proxy(new Response("x"), {})`,
    ...fine,
  },
  {
    tries: "to return a promise of a promise that throws when it is asked",
    code: `return { get then() { throw new Error("thenable") } }`,
    status: 502,
    run: /^failed Error: thenable/,
  },
  {
    tries: "to return a value that refuses to become JSON",
    code: `return { toJSON() { throw new Error("no JSON") } }`,
    ...fine,
  },
  {
    tries: "to return a cycle",
    code: `const cycle = {}; cycle.self = cycle; return cycle`,
    ...fine,
  },
  {
    tries: "to return a value that is nested 100,000 times",
    isLarge: true,
    code: `let deep = []; for (let index = 0; index < 100_000; index++) deep = [deep]; return deep`,
    ...fine,
  },
  {
    tries: "to return a body that was read before",
    code: `const response = new Response("x"); await response.text(); return response`,
    status: 502,
    run: /^failed /,
  },
  {
    tries: "to return a body that is locked",
    code: `const response = new Response("x".repeat(100_000)); response.body.getReader(); return response`,
    status: 502,
    run: /^failed /,
  },
  {
    tries: "to return an error response",
    code: `return Response.error()`,
    status: 502,
    run: /^failed /,
  },
  { tries: "to return its request", code: `return request`, ...fine },
  {
    tries: "to log values that throw when they are looked at",
    code: `console.log({ [Symbol.for("Deno.customInspect")]() { throw new Error("inspect") } }, new Proxy({}, { get() { throw new Error("trap") } }), { get x() { throw new Error("getter") } }); return "x"`,
    status: 502,
    run: /^failed Error: /,
  },
  {
    tries: "to log a value that never ends",
    isLarge: true,
    code: `let deep = {}; for (let index = 0; index < 10_000; index++) deep = { deep }; console.log(deep, new Array(1e7).fill(0)); return "x"`,
    ...fine,
  },
  {
    tries: "to log with formats of the host",
    code: `console.log("%s%s%s%n%c%o%O", "a"); return "x"`,
    ...fine,
  },
  {
    tries: "to exit",
    code: `Deno.exit(3)`,
    status: 502,
    run: /^failed Error: Cannot exit with code 3/,
  },
  {
    tries: "to exit as Node does",
    code: `(await import("node:process")).exit(3)`,
    status: 502,
    run: /^failed Error: Cannot exit with code 3/,
  },
  {
    tries: "to abort as Node does",
    code: `(await import("node:process")).default.abort()`,
    status: 502,
    run: /^failed Error: Cannot exit with code 134/,
  },
]
