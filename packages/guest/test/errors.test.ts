import { afterEach, describe, expect, test } from "bun:test"
import type { Failure } from "../src/protocol.ts"
import type { GuestProcess } from "./support/guest-process.ts"
import { startVal, stopVals, toCases, useVal } from "./support/vals.ts"

afterEach(stopVals)

/** The error of a call. */
async function errorOf(code: string) {
  const guest = await startVal(code, { isHttp: false })
  return await guest.callError()
}

describe("toErrorText", () => {
  test("has the val's lines and names, and no internal frames", async () => {
    const guest = await startVal(
      `import { fail } from "/v/bob/lib@2"\n\ninterface Unused { readonly a: string }\n\nasync function outer(): Promise<void> {\n  await 0\n  fail({ a: "x" } as Unused)\n}\nexport default async () => {\n  await outer()\n}`,
      {
        modules: {
          "bob/lib@2": `export type T = unknown\nexport function fail(value: T): never {\n  throw new RangeError("no " + typeof value)\n}`,
        },
      },
    )
    const stack = [
      "RangeError: no object",
      "    at fail (bob/lib.tsx:3:9)",
      "    at outer (ada/hello.tsx:7:3)",
      "    at async default (ada/hello.tsx:10:3)",
    ].join("\n")
    const failure = (await (await guest.request("/")).json()) as Failure
    expect(failure).toEqual({
      error: { name: "RangeError", message: "no object", stack },
      logCount: 0,
    })
    expect((await guest.call()).error?.stack).toBe(stack)
  })

  test("leaves out frames of Deno and Node", async () => {
    const { stack } = await errorOf(
      `import fs from "node:fs"; export default () => [1].map(() => fs.readFileSync("/etc/hostname"))`,
    )
    expect(stack?.split("\n").slice(1)).toEqual([
      "    at ada/hello.tsx:1:65",
      "    at Array.map (<anonymous>)",
      "    at default (ada/hello.tsx:1:52)",
    ])
  })

  test("includes causes and the errors of an AggregateError", async () => {
    const { message, stack } = await errorOf(`export default () => {
      const cause = new TypeError("inner", { cause: "a text" })
      throw new AggregateError([new Error("one"), 2], "outer", { cause })
    }`)
    expect(message).toBe("outer")
    expect(stack?.split("\n").filter((line) => !line.startsWith("    at "))).toEqual([
      "AggregateError: outer",
      "Caused by: TypeError: inner",
      "Caused by: a text",
      "Error 1: Error: one",
      "Error 2: 2",
    ])
  })

  test("handles any thrown value", async () => {
    const guest = await startVal(
      `const things: Record<string, () => unknown> = {
        text: () => "text", number: () => 3, nothing: () => undefined, null: () => null, object: () => ({ code: 7 }), symbol: () => Symbol("s"),
        loop: () => { const error = new Error("loop"); error.cause = error; return error },
        getters: () => ({ get message() { throw new Error("trap") }, get stack() { throw new Error("trap") } }),
        traps: () => new Proxy(new Error("x"), { get() { throw new Error("trap") } }),
        odd: () => Object.assign(new Error("odd"), { name: 7, stack: 8, message: 9 }),
        like: () => ({ name: "Like", message: "an error" }), dom: () => new DOMException("dom", "AbortError"),
        long: () => new Error("x".repeat(1_000_000)), inspect: () => ({ [Symbol.for("Deno.customInspect")]() { throw new Error("trap") } }),
      }
      export default (name: string) => { throw things[name]!() }`,
      { isHttp: false },
    )
    const of = (name: string) => guest.callError([name])
    expect(await of("text")).toEqual({ name: "Error", message: "text" })
    expect(await of("number")).toEqual({ name: "Error", message: "3" })
    expect(await of("nothing")).toEqual({ name: "Error", message: "undefined" })
    expect(await of("null")).toEqual({ name: "Error", message: "null" })
    expect(await of("object")).toEqual({ name: "Error", message: "{ code: 7 }" })
    expect(await of("symbol")).toEqual({ name: "Error", message: "Symbol(s)" })
    expect((await of("loop")).stack?.match(/Caused by/g)).toHaveLength(5)
    for (const name of ["getters", "traps", "inspect"]) expect((await of(name)).name).toBe("Error")
    expect(await of("odd")).toMatchObject({ name: "Error" })
    expect(await of("like")).toEqual({ name: "Like", message: "an error" })
    expect(await of("dom")).toMatchObject({ name: "AbortError", message: "dom" })
    expect((await of("long")).message).toHaveLength(32_769)
  })
})

describe("an uncaught error", () => {
  const ways: [title: string, code: string][] = [
    ["a timer", `setTimeout(() => { throw new Error("lost") }, 5)`],
    [
      "an interval",
      `const id = setInterval(() => { clearInterval(id); throw new Error("lost") }, 5)`,
    ],
    ["an immediate", `setImmediate(() => { throw new Error("lost") })`],
    ["a microtask", `queueMicrotask(() => { throw new Error("lost") })`],
    ["a tick", `process.nextTick(() => { throw new Error("lost") })`],
    ["a promise", `Promise.reject(new Error("lost"))`],
    [
      "an async function",
      `(async () => { await new Promise((done) => setTimeout(done, 5)); throw new Error("lost") })()`,
    ],
    ["reportError", `reportError(new Error("lost"))`],
    [
      "a listener",
      `const target = new EventTarget(); target.addEventListener("x", () => { throw new Error("lost") }); target.dispatchEvent(new Event("x"))`,
    ],
    ["a timer of node:timers", `timers.setTimeout(() => { throw new Error("lost") }, 5)`],
  ]
  const bodies = ways.map(([, code]) => `${code}; await new Promise(() => {})`)
  const getFailing = useVal(
    `import process from "node:process"; import timers from "node:timers"
    ${toCases("", [...bodies, `await new Promise((done) => setTimeout(done, 60)); return "good"`])}`,
    { isHttp: false },
  )
  const countUncaught = ({ messages }: GuestProcess) =>
    messages.filter(({ kind }) => kind === "uncaught").length
  test.each(ways.map(([title], index) => [title, index] as const))(
    "in %s ends the pending run, and no other",
    async (_, index) => {
      const guest = getFailing()
      const before = countUncaught(guest)
      const good = guest.call([ways.length], `good-${index}`)
      const run = `bad-${index}`
      const error = await guest.callError([index], run)
      expect(error).toMatchObject({ name: "Error", message: "lost" })
      expect(error.stack).toContain("at ")
      expect(error.stack).not.toContain("file:")
      expect(await guest.uncaught(run)).toEqual({ kind: "uncaught", run, error })
      expect(await good).toMatchObject({ value: "good" })
      expect(countUncaught(guest)).toBe(before + 1)
    },
  )

  test("ends a pending request", async () => {
    const guest = await startVal(
      `export default async () => { setTimeout(() => { throw new Error("lost") }, 1); await new Promise(() => {}) }`,
    )
    const response = await guest.request("/")
    expect([response.status, response.headers.get("x-hamlet-failure")]).toEqual([500, "1"])
    expect(((await response.json()) as Failure).error.message).toBe("lost")
  })

  test("fails its run after the response too", async () => {
    // A timer may fire before Deno reports the rejection, if both are due at once; a second timer,
    // started by the first, fires after it.
    const guest = await startVal(`export default (request: Request) => {
      const { pathname } = new URL(request.url)
      Promise.resolve().then(() => { throw new Error("soon " + pathname) })
      setTimeout(() => setTimeout(() => { throw new Error("late " + pathname) }, 5), 5)
      return new Response("fine")
    }`)
    for (const run of ["a", "b"])
      expect(await (await guest.request(`/${run}`, {}, run)).text()).toBe("fine")
    for (const run of ["a", "b"])
      expect((await guest.uncaught(run)).error?.message).toBe(`soon /${run}`)
    // The first error is the run's; what follows is in its log.
    await guest.until(() => guest.logs().length === 2)
    expect(guest.texts("b")[0]).toStartWith(
      "Uncaught Error: late /b\n    at Timeout.<anonymous> (ada/hello.tsx:4:49)",
    )
  })

  test("without a context belongs to the only run", async () => {
    const code = `import { setTimeout as start } from "node:timers"
      export default async () => { start(() => { throw new Error("lost") }, 1); await new Promise(() => {}) }`
    const guest = await startVal(code, { isHttp: false })
    expect((await guest.call([], "only")).error).toMatchObject({ message: "lost" })
  })

  test("while the module loads belongs to the run that loads it", async () => {
    const guest = await startVal(
      `Promise.reject(new Error("stray")); await new Promise((done) => setTimeout(done, 5)); export default () => "loaded"`,
    )
    expect((await guest.uncaught("load")).error?.message).toBe("stray")
    expect((await guest.call([], "load")).error?.message).toBe("stray")
    expect((await guest.call([], "next")).value).toBe("loaded")
  })

  test("in a worker belongs to the run that created the worker", async () => {
    const guest = await startVal(
      `export default async () => {
      new Worker("data:text/javascript,throw new Error('in the worker')", { type: "module" })
      await new Promise(() => {})
    }`,
      { isHttp: false },
    )
    expect((await guest.call([], "worker")).error?.message).toContain("in the worker")
  })
})

describe("forbidExit", () => {
  const ways = [
    "Deno.exit(3)",
    "process.exit(3)",
    "exit(3)",
    "process.reallyExit(3)",
    "process.abort()",
  ]
  const getExiting = useVal(
    `import process, { exit } from "node:process"\n${toCases("", [...ways, 'return "alive"'])}`,
    { isHttp: false },
  )
  test.each(ways.map((code, index) => [code, index] as const))(
    "turns %s into a failure of the run",
    async (_, index) => {
      const guest = getExiting()
      const run = `bad-${index}`
      const error = await guest.callError([index], run)
      expect(error.message).toMatch(
        /^Cannot exit with code (3|134): a val shares its process with other runs$/,
      )
      await guest.uncaught(run)
      expect(guest.logs(run)).toEqual([])
      expect(await guest.call([ways.length])).toMatchObject({ value: "alive" })
    },
  )

  test("reports it once, wherever it happens", async () => {
    const guest = await startVal(
      `export default () => { setTimeout(() => Deno.exit(1), 1); setTimeout(() => console.log("after"), 5) }`,
    )
    await guest.request("/", {}, "bad")
    await guest.until(() => guest.texts("bad").includes("after"))
    await guest.uncaught("bad")
    expect(guest.texts("bad")).toEqual(["after"])
  })

  test("fails the run also when the val catches it", async () => {
    const guest = await startVal(
      `export default (request: Request) => { try { Deno.exit(1) } catch {} return new Response("never mind") }`,
    )
    expect((await guest.request("/")).headers.get("x-hamlet-failure")).toBe("1")
    expect((await guest.call()).error?.message).toContain("Cannot exit")
  })
})
