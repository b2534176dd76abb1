import { expect, test } from "bun:test"
import { prepareOnce } from "./prepare-once.ts"

test("prepareOnce prepares once for all callers, and again after a failure", async () => {
  const outcomes = [Promise.reject(new Error("not now")), Promise.resolve("ready")]
  let calls = 0
  const prepare = prepareOnce(() => outcomes[calls++] ?? Promise.resolve("too often"))
  const failed = await Promise.allSettled([prepare(), prepare()])
  expect(failed.map(({ status }) => status)).toEqual(["rejected", "rejected"])
  expect(await Promise.all([prepare(), prepare()])).toEqual(["ready", "ready"])
  expect(await prepare()).toBe("ready")
  expect(calls).toBe(2)
})
