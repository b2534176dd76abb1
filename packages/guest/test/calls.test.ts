import { afterEach, describe, expect, test } from "bun:test"
import { startVal, stopVals, useVal } from "./support/vals.ts"

afterEach(stopVals)

/** A val that returns what the JavaScript it is given evaluates to. */
const evaluating = `export default (code: string) => (0, eval)(code)`

describe("handleCall", () => {
  test("passes arguments and returns the return value", async () => {
    const guest = await startVal(
      `export default async (a: number, b: { c: number[] }, ...rest: unknown[]) => [a, b.c[1], rest.length]`,
      {
        isHttp: false,
      },
    )
    expect(await guest.call([1, { c: [2, 3] }, null, "x"])).toEqual({
      value: [1, 3, 2],
      isTruncated: false,
      logCount: 0,
    })
    expect((await guest.call()).error).toMatchObject({
      name: "TypeError",
      message: "Cannot read properties of undefined (reading 'c')",
    })
  })

  test("creates a Request for a val that expects one", async () => {
    const guest = await startVal(
      `export default (request: Request) => new Response(request.method + request.url, { headers: { "x-a": "b" } })`,
    )
    expect(await guest.call()).toMatchObject({
      value: { status: 200, headers: { "x-a": "b" }, body: "GEThttp://ada-hello.localhost:8080/" },
    })
  })

  test("passes a non-http val its arguments, also an empty list", async () => {
    const guest = await startVal(`export default (...args: unknown[]) => args.length`, {
      isHttp: false,
    })
    expect(await guest.call()).toMatchObject({ value: 0 })
  })

  test("describes a Response with several cookies and bytes", async () => {
    const guest = await startVal(
      `export default () => new Response(new Uint8Array([255, 254]), { status: 201, headers: [["set-cookie", "a=1"], ["set-cookie", "b=2"]] })`,
    )
    expect(await guest.call()).toMatchObject({
      value: { status: 201, headers: { "set-cookie": ["a=1", "b=2"] }, body: "//4=" },
    })
  })
})

describe("toJson converts", () => {
  const cases: [title: string, code: string, value: unknown][] = [
    ["nothing, null", `undefined`, null],
    ["a function, null", `() => 1`, null],
    ["a symbol, null", `Symbol("x")`, null],
    ["a bigint, its digits", `[1n, { n: -(2n ** 70n) }]`, ["1", { n: "-1180591620717411303424" }]],
    ["a Date, its ISO form", `new Date(0)`, "1970-01-01T00:00:00.000Z"],
    ["an invalid Date, null", `new Date(NaN)`, null],
    ["numbers that are none, null", `[NaN, Infinity, -0]`, [null, null, 0]],
    [
      "a Map with texts as keys, an object",
      `new Map([["a", new Map([["b", 1]])]])`,
      { a: { b: 1 } },
    ],
    [
      "another Map, pairs",
      `new Map([[1, "a"], [{ k: 1 }, undefined]])`,
      [
        [1, "a"],
        [{ k: 1 }, null],
      ],
    ],
    ["a Set, an array", `new Set([1, "a", new Set([2])])`, [1, "a", [2]]],
    [
      "a cycle, a mark",
      `(() => { const a = { list: [] }; a.list.push(a); return a })()`,
      { list: ["[Circular]"] },
    ],
    [
      "the same object twice, twice",
      `(() => { const a = { x: 1 }; return [a, a] })()`,
      [{ x: 1 }, { x: 1 }],
    ],
    [
      "what JSON leaves out, as JSON does",
      `({ a: undefined, b() {}, c: Symbol("x"), d: [undefined, () => 1] })`,
      { d: [null, null] },
    ],
    [
      "bytes, base64",
      `[new Uint8Array([1, 2, 3]), new Uint8Array([1, 2, 3]).buffer, new DataView(new ArrayBuffer(2), 1), Buffer.from("x")]`,
      ["AQID", "AQID", "AA==", { type: "Buffer", data: [120] }],
    ],
    [
      "numbers in arrays of their own, arrays",
      `[new Float32Array([1.5]), new BigInt64Array([7n]), new Int16Array(2)]`,
      [[1.5], ["7"], [0, 0]],
    ],
    [
      "boxed values, the values",
      `[Object(1), Object("a"), Object(true), Object(2n)]`,
      [1, "a", true, "2"],
    ],
    [
      "what has toJSON, what that gives",
      `[{ toJSON: () => ({ a: 1n }) }, { toJSON() { return this }, b: 1 }, { toJSON: () => undefined }, new URL("http://a/b")]`,
      [{ a: "1" }, { b: 1 }, null, "http://a/b"],
    ],
    [
      "traps, what was thrown",
      `[{ get a() { throw new Error("trap") }, b: 1 }, { toJSON() { throw "text" } }, new Proxy({}, { ownKeys() { throw new Error("keys") } })]`,
      [{ a: "[Thrown: trap]", b: 1 }, "[Thrown: text]", "[Thrown: keys]"],
    ],
    [
      "a revoked proxy, what was thrown",
      `(() => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return [proxy] })()`,
      ["[Thrown: Cannot perform 'get' on a proxy that has been revoked]"],
    ],
    ["headers, an object", `new Headers({ a: "b" })`, { a: "b" }],
    [
      "a nested Response, what is known at once",
      `[new Response("x", { status: 201 })]`,
      [{ status: 201, headers: { "content-type": "text/plain;charset=UTF-8" } }],
    ],
    [
      "a nested Request, what is known at once",
      `[new Request("http://a/b", { headers: { c: "d" } })]`,
      [{ method: "GET", url: "http://a/b", headers: { c: "d" } }],
    ],
    ["a promise, what it is kept with", `Promise.resolve([1])`, [1]],
    [
      "an object without a prototype, an object",
      `Object.assign(Object.create(null), { a: 1 })`,
      { a: 1 },
    ],
    [
      "an instance, its fields",
      `new (class Point { x = 1; #y = 2; get z() { return 3 } })()`,
      { x: 1 },
    ],
    [
      "odd keys, the same keys",
      `({ "": 1, "\\"\\n": 2, "__proto__x": 3 })`,
      { "": 1, '"\n': 2, __proto__x: 3 },
    ],
    ["half a character, an escape", `"\\ud800"`, "\ud800"],
    [
      "a getter without end, an end",
      `(() => { const make = () => ({ get next() { return make() } }); let value = make(); return JSON.stringify(value = { depth: 1 }) })()`,
      '{"depth":1}',
    ],
  ]
  test("every kind of value", async () => {
    const guest = await startVal(evaluating, { isHttp: false })
    for (const [title, code, value] of cases) {
      const returned = await guest.call([code])
      expect([title, returned.value, returned.isTruncated]).toEqual([title, value, false])
    }
  })

  test("an Error to its name, message, stack and fields", async () => {
    const guest = await startVal(
      `export default () => [Object.assign(new RangeError("far"), { code: 7 })]`,
      { isHttp: false },
    )
    const { value } = await guest.call()
    expect(value).toEqual([
      {
        name: "RangeError",
        message: "far",
        stack: "RangeError: far\n    at default (ada/hello.tsx:1:37)",
        code: 7,
      },
    ])
  })

  test("values nested too deeply to a mark", async () => {
    const guest = await startVal(evaluating, { isHttp: false })
    const { value, isTruncated } = await guest.call([
      `(() => { let value = {}; for (let i = 0; i < 1e5; i++) value = { value }; return value })()`,
    ])
    expect(JSON.stringify(value)).toContain("[Too deep]")
    expect(isTruncated).toBe(false)
    const endless = await guest.call([
      `(() => { const make = () => ({ get next() { return make() } }); return make() })()`,
    ])
    expect(JSON.stringify(endless.value)).toContain("[Too deep]")
  })
})

describe("toReturned", () => {
  const cut = async (code: string, returnBytesMax: number) => {
    const guest = await startVal(evaluating, { isHttp: false, limits: { returnBytesMax } })
    return await guest.call([code])
  }

  test("keeps logs that just fit", async () => {
    expect(await cut(`["äö", { a: { b: { c: [1, 2, 3] } } }]`, 34)).toMatchObject({
      value: ["äö", { a: { b: { c: [1, 2, 3] } } }],
      isTruncated: false,
    })
    expect(await cut(`["äö", { a: { b: { c: [1, 2, 3] } } }]`, 33)).toMatchObject({
      value: `["äö",{"a":{"b":{"c":[1,2,3]}}}… [cut]`,
      isTruncated: true,
    })
  })

  const getCutting = useVal(evaluating, { isHttp: false, limits: { returnBytesMax: 1_000 } })
  test.each([
    ["a text", `"x".repeat(1e6)`],
    ["an array", `new Array(1e8)`],
    ["bytes", `new Uint8Array(1e7)`],
    ["a Map", `new Map(Array.from({ length: 1e5 }, (_, n) => [n, n]))`],
    ["a Set", `new Set(Array.from({ length: 1e5 }, (_, n) => n))`],
    ["an object", `Object.fromEntries(Array.from({ length: 1e5 }, (_, n) => ["key" + n, n]))`],
    [
      "a Response without end",
      `new Response(new ReadableStream({ pull(to) { to.enqueue(new TextEncoder().encode("€".repeat(1000))) } }))`,
    ],
    [
      "a tree that grows while it is read",
      `(() => { const make = () => Array.from({ length: 10 }, () => ({ toJSON: make })); return make() })()`,
    ],
  ])("truncates %s", async (_, code) => {
    const { value, isTruncated } = await getCutting().call([code])
    expect(isTruncated).toBe(true)
    expect(typeof value).toBe("string")
    expect(value).toEndWith("… [cut]")
    expect(new TextEncoder().encode(value as string).length).toBeLessThanOrEqual(1_010)
  })
})
