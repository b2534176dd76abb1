import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test"
import { type FakeStorage, startFakeStorage } from "./support/fake-storage.ts"
import { type OnDeno, openDeno } from "./support/on-deno.ts"

const denoMsMax = 120_000

describe("std/blob, on Deno,", () => {
  let deno: OnDeno
  let storage: FakeStorage

  beforeAll(async () => {
    deno = await openDeno()
  })
  afterAll(() => deno[Symbol.asyncDispose]())
  beforeEach(() => {
    storage = startFakeStorage()
  })
  afterEach(() => storage[Symbol.asyncDispose]())

  const run = (
    body: string,
    env: Record<string, string> = { HAMLET_URL: storage.url, HAMLET_TOKEN: "hush" },
  ) => deno.run(body, env)
  const cases = (title: string, body: string, expected: unknown) =>
    test(title, async () => expect(await run(body)).toEqual(expected as object), denoMsMax)

  cases(
    "keeps JSON, and has undefined where there is none",
    'await blob.setJSON("a", { b: [1, "é", null] }); return [await blob.getJSON("a"), await blob.getJSON("none") === undefined]',
    [{ b: [1, "é", null] }, true],
  )
  cases(
    "keeps text and bytes with their types, and gives them as a Response",
    `await blob.set("text", "é")
     await blob.set("bytes", new Uint8Array([0, 255]))
     await blob.set("typed", new Blob(["<p>"], { type: "text/html" }))
     const of = async (key) => { const got = await blob.get(key); return [got instanceof Response, got.headers.get("content-type"), [...await got.bytes()]] }
     return [await of("text"), await of("bytes"), await of("typed")]`,
    [
      [true, "text/plain;charset=UTF-8", [195, 169]],
      [true, "application/octet-stream", [0, 255]],
      [true, "text/html", [60, 112, 62]],
    ],
  )
  cases(
    "sends a stream as it comes",
    `const stream = new ReadableStream({ start(it) { for (const part of ["a", "b"]) it.enqueue(new TextEncoder().encode(part)); it.close() } })
     await blob.set("stream", stream)
     return await (await blob.get("stream")).text()`,
    "ab",
  )
  cases(
    "lists all of them, however many the server gives at once, or those with a prefix",
    `for (const key of ["a/1", "a/2", "a/3", "b?&1", "b 2"]) await blob.set(key, "x")
     const keys = async (prefix) => (await blob.list(prefix)).map((entry) => entry.key)
     return [await keys(), await keys("a/"), await keys("b?&"), await keys("c"), (await blob.list("b "))[0]]`,
    [
      ["a/1", "a/2", "a/3", "b 2", "b?&1"],
      ["a/1", "a/2", "a/3"],
      ["b?&1"],
      [],
      { key: "b 2", size: 1, lastModified: "2026-01-01T00:00:00.000Z" },
    ],
  )
  cases(
    "copies and moves with the type, also onto itself",
    `await blob.set("one", new Blob(["1"], { type: "text/x-one" }))
     await blob.copy("one", "two")
     await blob.move("two", "three")
     await blob.move("three", "three")
     const got = await blob.get("three")
     return [await got.text(), got.headers.get("content-type"), (await blob.list()).map((entry) => entry.key)]`,
    ["1", "text/x-one", ["one", "three"]],
  )
  for (const call of [
    'get("no/ne")',
    'delete("no/ne")',
    'copy("no/ne", "x")',
    'move("no/ne", "no/ne")',
  ]) {
    cases(`throws a ValTownBlobNotFoundError for ${call}`, `return await blob.${call}`, {
      failed: "ValTownBlobNotFoundError",
      message: 'Cannot find blob "no/ne"',
      code: "blob_not_found",
    })
  }
  cases(
    "deletes, and can be told apart by its errors",
    `await blob.set("gone", "x")
     await blob.delete("gone")
     return await blob.get("gone").catch((it) => [it instanceof modules.blob.ValTownBlobNotFoundError, it instanceof modules.blob.ValTownBlobError])`,
    [true, true],
  )
  cases(
    "does not take what is no JSON for JSON",
    'await blob.set("text", "{"); return await blob.getJSON("text")',
    {
      failed: "ValTownBlobError",
      message: expect.stringContaining('Cannot get blob "text" as JSON'),
    },
  )
  cases("does not store undefined as JSON", 'return await blob.setJSON("a", undefined)', {
    failed: "TypeError",
    message: 'Cannot set blob "a": undefined is nothing that JSON can hold',
  })
  for (const key of ['""', '"."', '".."', '"\\ud800"']) {
    test(
      `refuses the key ${key}, which would change the URL`,
      async () => {
        expect(await run(`return await blob.get(${key})`)).toMatchObject({
          failed: "ValTownBlobError",
        })
        expect(
          await run(`await blob.set("a", "x"); return await blob.copy("a", ${key})`),
        ).toMatchObject({ failed: "ValTownBlobError" })
        expect(storage.seen.every(({ path }) => path === "/base/v1/blob/a")).toBe(true)
      },
      denoMsMax,
    )
  }
  cases("is also the default export", "return modules.blob.default === blob", true)

  test(
    "encodes keys as one path segment, and sends the token",
    async () => {
      await run('await blob.set("a/../b?c#d%2f é", "x")')
      expect(storage.seen).toMatchObject([
        {
          path: "/base/v1/blob/a%2F..%2Fb%3Fc%23d%252f%20%C3%A9",
          query: "",
          authorization: "Bearer hush",
        },
      ])
    },
    denoMsMax,
  )

  test(
    "uses the fetch of the time when it was loaded",
    async () => {
      expect(
        await run(
          'globalThis.fetch = () => { throw new Error("mine") }; await blob.set("a", "1"); return await blob.getJSON("a")',
        ),
      ).toBe(1)
    },
    denoMsMax,
  )

  test(
    "reports what is missing when storage is not available",
    async () => {
      expect(await run('return await blob.get("a")', { HAMLET_URL: storage.url })).toEqual({
        failed: "ValTownBlobError",
        message:
          'Cannot get blob "a": this val runs on another user\'s account, which has no storage',
      })
      expect(await run("return await blob.list()", {})).toEqual({
        failed: "ValTownBlobError",
        message:
          "Cannot list blobs: outside of a val, HAMLET_URL and HAMLET_TOKEN have to be in the environment",
      })
      expect(storage.seen).toEqual([])
    },
    denoMsMax,
  )
})
