import { afterEach, describe, expect, test } from "bun:test"
import { startGuest, startVal, stopVals } from "./support/vals.ts"

afterEach(stopVals)

/** The val does its worst, then serves; another run goes on as if nothing had happened. */
async function survive(attack: string) {
  const guest = await startVal(`
    // Deno loads its timers when they are used first, with the globals that are there then.
    await new Promise<void>((done) => setTimeout(done, 0))
    const attack = () => { ${attack} }
    export default async (request: Request) => {
      const { pathname } = new URL(request.url)
      if (pathname === "/attack") { attack(); return new Response("attacked") }
      console.log("before %s", pathname)
      await new Promise<void>((done) => setTimeout(done, 5))
      console.log("after", { pathname })
      if (pathname === "/throw") throw new RangeError("mine")
      if (pathname === "/stream") return new Response(new ReadableStream({ start(to) { to.enqueue(Uint8Array.of(104, 105)); to.close() } }))
      return new Response("hi")
    }`)
  const attacked = await guest.request("/attack", {}, "attack").catch(() => undefined)
  await attacked?.text()
  const [plain, failed, stream] = await Promise.all([
    guest.request("/plain", {}, "plain"),
    guest.request("/throw", {}, "throw"),
    guest.request("/stream", {}, "stream"),
  ])
  const failure = (await failed.json()) as {
    error: { name: string; message: string; stack: string }
  }
  await guest.settle()
  expect({
    plain: await plain.text(),
    stream: await stream.text(),
    name: failure.error.name,
    message: failure.error.message,
  }).toEqual({
    plain: "hi",
    stream: "hi",
    name: "RangeError",
    message: "mine",
  })
  expect(failure.error.stack).toMatch(/at default \(ada\/hello.tsx:\d+:40\)/)
  for (const name of ["plain", "throw", "stream"]) {
    expect(guest.texts(name)).toEqual([`before /${name}`, `after { pathname: "/${name}" }`])
  }
}

describe("a val that modifies shared globals does not affect other runs:", () => {
  test.each([
    [
      "globals that are gone",
      `for (const name of ["Response", "Request", "Headers", "JSON", "Map", "Set", "WeakMap", "TextEncoder", "TextDecoder", "Reflect", "Symbol", "Date",
       "queueMicrotask", "Error", "TypeError", "Object", "Array", "String", "RegExp", "Function", "Blob", "FormData"]) if (!["Response", "Object", "RangeError"].includes(name)) delete globalThis[name]`,
    ],
    [
      "JSON.stringify and toJSON",
      `JSON.stringify = () => "forged"; JSON.parse = () => ({ kind: "forged" }); Object.prototype.toJSON = String.prototype.toJSON = () => "forged"`,
    ],
    [
      "Object.prototype",
      `Object.defineProperty(Object.prototype, "id", { get: () => "forged", set() {} }); Object.prototype.status = 999; Object.prototype.headers = { forged: "1" };
       Object.prototype.run = { id: "forged" }; Object.prototype.failure = { error: { name: "forged" } }; Object.prototype.console = 1; Object.prototype.colors = true`,
    ],
    [
      "Array.prototype",
      `Array.prototype[Symbol.iterator] = function* () { yield "forged" }; Array.prototype.push = () => 0; Array.prototype.join = () => "forged"; Array.prototype.map = Array.prototype.filter = () => []`,
    ],
    [
      "String.prototype",
      `for (const name of ["slice", "indexOf", "lastIndexOf", "startsWith", "endsWith", "split", "replace", "trimStart", "charCodeAt"]) String.prototype[name] = () => "forged"`,
    ],
    [
      "RegExp.prototype",
      `RegExp.prototype.exec = () => null; RegExp.prototype.test = () => true; RegExp.prototype[Symbol.replace] = () => "forged"; Object.defineProperty(RegExp.prototype, "flags", { get: () => "" })`,
    ],
    [
      "Map and Set",
      `for (const kind of [Map, Set, WeakMap, WeakSet]) for (const name of ["add", "delete", "has", "get", "set", "forEach"]) kind.prototype[name] = () => { throw new Error("forged") }`,
    ],
    [
      "promises",
      `Promise.prototype.then = () => { throw new Error("forged") }; Promise.prototype.catch = Promise.prototype.finally = Promise.prototype.then; Promise.resolve = Promise.all = Promise.race = () => 0`,
    ],
    // Without Function.prototype.call Deno's own streams do nothing.
    [
      "functions",
      `Function.prototype.apply = Function.prototype.bind = () => "forged"; Reflect.apply = Reflect.get = () => "forged"`,
    ],
    [
      "text and bytes",
      `TextEncoder.prototype.encode = () => new Uint8Array(3); TextDecoder.prototype.decode = () => "forged"; Uint8Array.prototype.subarray = () => new Uint8Array(1); Uint8Array.prototype.toBase64 = () => "forged"`,
    ],
    [
      "responses and streams",
      `Response.prototype.clone = Response.error = () => "forged"; for (const name of ["status", "headers", "body"]) Object.defineProperty(Response.prototype, name, { get: () => "forged" });
       ReadableStream.prototype.getReader = () => "forged"; ReadableStreamDefaultReader.prototype.read = () => "forged"`,
    ],
    [
      "console",
      `for (const name of Object.keys(console)) if (name !== "log") console[name] = () => { throw new Error("forged") }`,
    ],
    [
      "errors",
      `Error.prepareStackTrace = () => "forged"; delete Error.prepareStackTrace; Error.stackTraceLimit = 10; Object.defineProperty(Error.prototype, "name", { get: () => { throw 1 } })`,
    ],
    ["time", `Date.now = () => { throw new Error("forged") }; performance.now = () => NaN`],
    [
      "listeners",
      `globalThis.onerror = globalThis.onunhandledrejection = () => {}; addEventListener("error", (event) => event.stopImmediatePropagation()); dispatchEvent = removeEventListener = () => {}`,
    ],
    [
      "its own globals",
      `Object.freeze(globalThis.Deno); Deno = undefined; process = undefined; globalThis.Deno = undefined`,
    ],
  ])("%s", async (_, attack) => {
    await survive(attack)
  })
})

describe("a val that uses Deno's internals", () => {
  test("can send messages on the control socket without breaking it", async () => {
    const guest = await startVal(
      `export default async () => {
      const line = new TextEncoder().encode('{"kind":"log","run":"other","at":0,"level":"log","message":"forged"}\\n')
      // The control socket is the first that the guest opens.
      const socket = new Deno.FsFile(3, Symbol.for("Deno.internal.FsFile"))
      console.log("before")
      await socket.write(line)
      console.log("after")
    }`,
      { isHttp: false },
    )
    await guest.call([], "own")
    await guest.settle()
    expect(guest.texts("own")).toEqual(["before", "after"])
    // This is why the host believes only what concerns runs that it has sent here.
    expect(guest.texts("other")).toEqual(["forged"])
  })

  test("cannot access Deno's internal operations", async () => {
    const guest = await startVal(
      `export default () => [typeof Deno.internal, Reflect.ownKeys(Deno).filter((key) => typeof key === "symbol").length, typeof Deno.core]`,
      { isHttp: false },
    )
    expect(await guest.call([], "own")).toMatchObject({ value: ["undefined", 0, "undefined"] })
  })
})

describe("the guest", () => {
  test("ignores unknown messages", async () => {
    const guest = await startGuest()
    guest.send({ kind: "nonsense" } as never)
    guest.send({} as never)
    await guest.settle()
    expect(await guest.load(`export default () => "loaded"`)).toMatchObject({ kind: "loaded" })
  })

  test("responds to a call with an invalid body", async () => {
    const guest = await startVal(`export default (...args: unknown[]) => args.length`, {
      isHttp: false,
    })
    for (const body of ["", "nonsense", "null", "3"]) {
      const response = await fetch("http://call/cbad", {
        method: "POST",
        body,
        unix: guest.inSocket,
      })
      expect(response.headers.get("x-hamlet-failure") ?? (await response.text())).toBeTruthy()
    }
    expect(await guest.call([1])).toMatchObject({ value: 1 })
  })
})
