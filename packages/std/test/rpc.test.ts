import { describe, expect, test } from "bun:test"
import { rpc } from "../src/rpc.ts"

describe("std/rpc", () => {
  const handle = rpc((...args: unknown[]) => (args.length === 0 ? undefined : args))
  const post = (body: string) => new Request("http://val.example/", { method: "POST", body })

  test.each([
    ["the query", new Request("http://val.example/?args=[1,%22a%22]"), [1, "a"]],
    ["a body", post('[{"b":1}]'), [{ b: 1 }]],
    ["a body with a name", post('{"args":[1,2]}'), [1, 2]],
    ["no arguments", new Request("http://val.example/"), null],
    ["an empty body", post(""), null],
  ])("takes the arguments of %s", async (_, request, expected) => {
    expect(await (await handle(request)).json()).toEqual(expected)
  })

  test.each(["{", "1", "null", '{"args":1}', '"a"'])("refuses %s", async (body) => {
    const response = await handle(post(body))
    expect([response.status, await response.json()]).toEqual([
      400,
      { error: "Cannot read the arguments: they must be a JSON array" },
    ])
  })

  test("fails as its function does", async () => {
    const failing = rpc(async () => {
      throw new RangeError("too much")
    })
    await expect(failing(new Request("http://val.example/"))).rejects.toThrow("too much")
  })
})
