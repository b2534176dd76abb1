import { expect, test } from "bun:test"
import { waitUntil } from "@hamlet/kit/testing"
import { FileReads } from "./file-reads.ts"

type FileReply = Parameters<ConstructorParameters<typeof FileReads>[1]>[0]

test("FileReads reads one file at a time, and replies in order", async () => {
  const replies: FileReply[] = []
  let reading = 0
  let most = 0
  const reads = new FileReads(
    async (path) => {
      reading += 1
      most = Math.max(most, reading)
      await new Promise(setImmediate)
      reading -= 1
      if (path === "broken") throw new Error("away")
      return path === "missing" ? null : `text of ${path}`
    },
    (reply) => replies.push(reply),
  )
  for (const [id, path] of ["a", "missing", "broken", null].entries()) reads.add(id, path)
  await waitUntil(async () => replies.length === 4)
  expect(most).toBe(1)
  expect(replies.map(({ id, text, isFailed }) => [id, text, isFailed])).toEqual([
    [0, "text of a", false],
    [1, null, false],
    [2, null, true],
    [3, "text of null", false],
  ])
})

test("FileReads refuses more than a guest may wait for, and replies to none after its end", async () => {
  const gate = Promise.withResolvers<string>()
  const replies: FileReply[] = []
  const reads = new FileReads(
    () => gate.promise,
    (reply) => replies.push(reply),
  )
  const added = Array.from({ length: 102 }, (_, id) => reads.add(id, "a"))
  // The first is being read, and a hundred wait.
  expect(added.indexOf(false)).toBe(101)
  reads.stop()
  gate.resolve("text")
  await new Promise(setImmediate)
  expect(replies).toEqual([])
})
