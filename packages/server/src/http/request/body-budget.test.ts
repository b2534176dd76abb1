import { describe, expect, test } from "bun:test"
import { codeOf } from "../../../test/support/rules.ts"
import { BodyBudget } from "./body-budget.ts"

const megabyte = 1_048_576

function toRequest(headers: Record<string, string>, body: BodyInit | null = null): Request {
  return new Request("http://hamlet.test/", { method: "POST", headers, body })
}

describe("BodyBudget", () => {
  const large = () => toRequest({ "content-length": String(megabyte) })

  test("lets a sender with too many large bodies wait, and no other", async () => {
    const budget = new BodyBudget({ bytesPerOwnerMax: 2 * megabyte })
    const first = Promise.withResolvers<string>()
    const read: string[] = []
    const run = (sender: string, name: string, request = large()) =>
      budget.run(request, sender, 2 * megabyte, async () => {
        read.push(name)
        return name === "first" ? first.promise : name
      })
    const running = [run("ada", "first"), run("ada", "second")]
    const third = run("ada", "third", toRequest({ "transfer-encoding": "chunked" }))
    await run("bob", "other")
    await run("ada", "small", toRequest({ "content-length": "65536" }))
    await run("ada", "empty", toRequest({}))
    expect(read).toEqual(["first", "second", "other", "small", "empty"])
    first.resolve("first")
    expect(await Promise.all([...running, third])).toEqual(["first", "second", "third"])
  })

  test("ends a body that is slow while others wait for its bytes, and no other", async () => {
    const budget = new BodyBudget({
      bytesMax: 2 * megabyte,
      bytesPerOwnerMax: megabyte,
      hurriedMs: 20,
      hurriedBytesPerSecond: 1_000 * megabyte,
      sweepMs: 10,
    })
    const never = new Promise<string>(() => {})
    const run = (sender: string, body: Promise<string>) =>
      budget.run(large(), sender, megabyte, () => body)
    const slow = [run("ada", never), run("bob", never)].map((one) => codeOf(one))
    expect(await Promise.race([...slow, Bun.sleep(100)])).toBeUndefined()
    expect(await run("cyd", Promise.resolve("read"))).toBe("read")
    expect(await Promise.race(slow)).toBe("body_timed_out")
  })

  test("gives the place of a client that has left to others", async () => {
    const budget = new BodyBudget({ bytesPerOwnerMax: megabyte, waitingMax: 1 })
    const first = Promise.withResolvers<string>()
    const running = budget.run(large(), "ada", megabyte, () => first.promise)
    const client = new AbortController()
    const request = new Request(large(), { signal: client.signal })
    const left = budget.run(request, "ada", megabyte, async () => "read").catch(String)
    client.abort(new Error("left"))
    expect(await left).toBe("Error: left")
    const next = budget.run(large(), "ada", megabyte, async () => "read")
    first.resolve("read")
    expect(await Promise.all([running, next])).toEqual(["read", "read"])
  })

  test("refuses more than may wait", async () => {
    const budget = new BodyBudget({ bytesPerOwnerMax: megabyte, waitingMax: 1 })
    const first = Promise.withResolvers<void>()
    const run = () => budget.run(large(), "ada", megabyte, () => first.promise)
    const running = [run(), run()]
    expect(await codeOf(run())).toBe("overloaded")
    first.resolve()
    await Promise.all(running)
  })
})
