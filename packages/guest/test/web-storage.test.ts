import { afterEach, describe, expect, test } from "bun:test"
import { startVal, stopVals } from "./support/vals.ts"

afterEach(stopVals)

/** What `code`, the body of an async function, returns. */
async function run(code: string) {
  const guest = await startVal(`export default async () => { ${code} }`, { isHttp: false })
  const result = await guest.call()
  if (result.error) throw new Error(result.error.message)
  return { value: result.value, guest }
}

describe("provideWebStorage", () => {
  test.each(["localStorage", "sessionStorage"])("keeps %s in memory", async (name) => {
    const { value } = await run(`const storage = ${name}
      storage.setItem("a", 1); storage.b = "two"; storage["c"] = "3"; delete storage.c; storage.removeItem("none")
      return [storage.getItem("a"), storage.a, storage.b, storage.c ?? "none", storage.getItem("c"), storage.length, storage.key(1), storage.key(9), Object.keys(storage),
        "a" in storage, "c" in storage, JSON.stringify(storage), storage instanceof Storage, (storage.clear(), storage.length)]`)
    expect(value).toEqual([
      "1",
      "1",
      "two",
      "none",
      null,
      2,
      "b",
      null,
      ["a", "b"],
      true,
      false,
      `{"a":"1","b":"two"}`,
      true,
      0,
    ])
  })

  test("limits storage, and frees what is removed", async () => {
    const { value } = await run(`
      const big = "x".repeat(4_000_000)
      localStorage.a = big
      let error; try { localStorage.b = big } catch (caught) { error = caught }
      localStorage.removeItem("a"); localStorage.b = big; localStorage.b = big
      return [error.name, error.message, localStorage.length]`)
    expect(value).toEqual([
      "QuotaExceededError",
      `Cannot store "b": the storage of a process holds 10485760 bytes; std/blob and std/sqlite hold more`,
      1,
    ])
  })

  test("keeps caches in memory", async () => {
    const { value } = await run(`
      const cache = await caches.open("v1"), url = "http://example.com/a?b=1#c"
      await cache.put(url, new Response("kept", { status: 201, headers: { "x-a": "1", vary: "accept" } }))
      const read = async (response) => response && [response.status, response.headers.get("x-a"), await response.text()]
      return [await read(await cache.match("http://example.com/a?b=1")), await read(await caches.match(url)), await read(await cache.match("http://example.com/a")) ?? "none",
        await read(await cache.match("http://example.com/a", { ignoreSearch: true })), await read(await cache.match(new Request(url, { headers: { accept: "x" } }))) ?? "none",
        (await cache.keys()).map(({ url }) => url), await caches.has("v1"), await caches.has("v2"), await cache.delete(url), await cache.delete(url), await caches.delete("v1"), await caches.keys(), caches instanceof CacheStorage]`)
    const kept = [201, "1", "kept"]
    expect(value).toEqual([
      kept,
      kept,
      "none",
      kept,
      "none",
      ["http://example.com/a?b=1"],
      true,
      false,
      true,
      false,
      true,
      [],
      true,
    ])
  })

  test("drops the oldest entries of caches that are full", async () => {
    const { value } = await run(`
      const [one, two] = [await caches.open("1"), await caches.open("2")], bytes = () => new Response(new Uint8Array(4_000_000))
      await one.put("http://a/1", bytes()); await two.put("http://a/2", bytes()); await one.put("http://a/3", bytes())
      const error = await one.put("http://a/4", new Response(new Uint8Array(11_000_000))).catch(({ name }) => name)
      return [await one.match("http://a/1") ?? "dropped", (await two.match("http://a/2")).status, (await one.match("http://a/3")).status, error]`)
    expect(value).toEqual(["dropped", 200, 200, "QuotaExceededError"])
  })

  test.each([
    [`"http://a/", new Response("", { status: 206 })`, "the response is a part of another"],
    [
      `"http://a/", new Response("", { headers: { vary: "*" } })`,
      "the response varies with everything",
    ],
    [`new Request("http://a/", { method: "POST" }), new Response("")`, "the request is not a GET"],
    [`"data:text/plain,x", new Response("")`, "its key has no HTTP address"],
  ])("refuses to cache %s", async (args, reason) => {
    const { value } = await run(
      `return (await caches.open("x")).put(${args}).catch(({ message }) => message)`,
    )
    expect(value).toBe(`Cannot put into the cache: ${reason}`)
  })
})
