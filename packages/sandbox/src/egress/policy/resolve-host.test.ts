import { describe, expect, jest, test } from "bun:test"
import { CannotResolve } from "./limited-lookup.ts"
import { createResolveHost, type ResolveLimits } from "./resolve-host.ts"

/** A resolver over a lookup that answers when the test says so. */
function open(limits: Partial<ResolveLimits> = {}) {
  const asked: {
    readonly name: string
    answer(addresses: readonly string[]): void
    fail(): void
  }[] = []
  const clock = { nowMs: 0 }
  const resolve = createResolveHost({
    limits,
    nowMs: () => clock.nowMs,
    lookup: (name) =>
      new Promise((answer, reject) => {
        asked.push({ name, answer, fail: () => reject(new Error("getaddrinfo ENOTFOUND")) })
      }),
  })
  return { asked, clock, resolve }
}

describe("createResolveHost", () => {
  test("returns all addresses in order, without duplicates", async () => {
    const { asked, resolve } = open()
    const found = resolve("a.example")
    asked[0]?.answer(["2.2.2.2", "1.1.1.1", "2.2.2.2"])
    expect(await found).toEqual(["2.2.2.2", "1.1.1.1"])
  })

  test("resolves a name once for concurrent callers", async () => {
    const { asked, resolve } = open()
    const found = [resolve("a.example", "ada"), resolve("a.example", "bob")]
    asked[0]?.answer(["1.1.1.1"])
    expect(await Promise.all(found)).toEqual([["1.1.1.1"], ["1.1.1.1"]])
    expect(asked).toHaveLength(1)
  })

  test("caches addresses for a limited time", async () => {
    const { asked, clock, resolve } = open({ cachedMs: 5_000 })
    const found = resolve("a.example")
    asked[0]?.answer(["1.1.1.1"])
    await found
    clock.nowMs = 4_999
    expect(await resolve("a.example")).toEqual(["1.1.1.1"])
    clock.nowMs = 5_000
    const later = resolve("a.example")
    asked[1]?.answer(["2.2.2.2"])
    expect(await later).toEqual(["2.2.2.2"])
  })

  test("removes the oldest name from a full cache", async () => {
    const { asked, resolve } = open({ cachedMax: 2 })
    for (const name of ["a.example", "b.example", "c.example"]) {
      const found = resolve(name)
      asked.at(-1)?.answer(["1.1.1.1"])
      await found
    }
    await Promise.all([resolve("b.example"), resolve("c.example")])
    expect(asked).toHaveLength(3)
    const again = resolve("a.example")
    expect(asked.map(({ name }) => name)).toEqual([
      "a.example",
      "b.example",
      "c.example",
      "a.example",
    ])
    asked[3]?.answer(["1.1.1.1"])
    await again
  })

  test("does not cache failures", async () => {
    const { asked, resolve } = open()
    const missing = resolve("a.example")
    asked[0]?.fail()
    await expect(missing).rejects.toThrow("ENOTFOUND")
    const found = resolve("a.example")
    asked[1]?.answer(["1.1.1.1"])
    expect(await found).toEqual(["1.1.1.1"])
  })

  test("refuses a name without addresses, and one with too many", async () => {
    const { asked, resolve } = open({ addressesMax: 2 })
    const none = resolve("none.example")
    asked[0]?.answer([])
    await expect(none).rejects.toThrow(new CannotResolve("cannot be found"))
    const many = resolve("many.example")
    asked[1]?.answer(["1.1.1.1", "2.2.2.2", "3.3.3.3"])
    await expect(many).rejects.toThrow(new CannotResolve("has too many addresses"))
  })

  test("rejects after the time limit, which frees the lookup", async () => {
    jest.useFakeTimers()
    try {
      const { resolve } = open({ lookupMsMax: 1_000, lookupsMax: 1, lookupsPerOwnerMax: 1 })
      for (const name of ["a.example", "b.example"]) {
        const late = resolve(name, "ada")
        jest.advanceTimersByTime(1_001)
        expect(await late.catch((error) => error)).toEqual(
          new CannotResolve("was not found in time"),
        )
      }
    } finally {
      jest.useRealTimers()
    }
  })

  test("limits concurrent lookups", async () => {
    const { asked, resolve } = open({ lookupsMax: 2 })
    const going = [resolve("a.example"), resolve("b.example")]
    expect(await resolve("c.example").catch((error) => error)).toBeInstanceOf(CannotResolve)
    for (const { answer } of asked) answer(["1.1.1.1"])
    await Promise.all(going)
    const later = resolve("c.example")
    asked[2]?.answer(["1.1.1.1"])
    expect(await later).toEqual(["1.1.1.1"])
  })

  test("limits concurrent lookups per owner", async () => {
    const { asked, resolve } = open({ lookupsMax: 10, lookupsPerOwnerMax: 1 })
    const first = resolve("a.example", "ada")
    expect(await resolve("b.example", "ada").catch((error) => error)).toBeInstanceOf(CannotResolve)
    const other = resolve("b.example", "bob")
    for (const { answer } of asked) answer(["1.1.1.1"])
    await Promise.all([first, other])
    expect(asked.map(({ name }) => name)).toEqual(["a.example", "b.example"])
  })

  test("reads /etc/hosts", async () => {
    expect(await createResolveHost()("localhost")).toContainEqual(
      expect.stringMatching(/^(127\.0\.0\.1|::1)$/),
    )
  })
})
