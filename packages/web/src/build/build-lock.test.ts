import { afterAll, expect, test } from "bun:test"
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { doOnce } from "./build-lock.ts"

const folder = mkdtempSync(join(tmpdir(), "build-lock-"))
const lock = join(folder, "lock")
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function createWork() {
  const state = { count: 0, isDone: false }
  const work = async () => {
    state.count += 1
    await new Promise((resolve) => setImmediate(resolve))
    state.isDone = true
  }
  return { state, isDone: () => state.isDone, work }
}

test("doOnce does the work once, and the others wait for it", async () => {
  const { state, isDone, work } = createWork()
  await Promise.all([1, 2, 3].map(() => doOnce(lock, isDone, work)))
  expect([state.count, state.isDone, existsSync(lock)]).toEqual([1, true, false])
})

test("doOnce writes nothing when the work is done: the folder may be read-only", async () => {
  const { state, work } = createWork()
  await doOnce(join(folder, "missing", "lock"), () => true, work)
  expect(state.count).toBe(0)
})

test("doOnce does not wait for a killed process", async () => {
  const { state, isDone, work } = createWork()
  writeFileSync(lock, "999999999")
  await doOnce(lock, isDone, work)
  expect([state.count, existsSync(lock)]).toEqual([1, false])
})

test("doOnce lets the next one try when the work fails", async () => {
  const { state, isDone, work } = createWork()
  const fails = () => Promise.reject(new Error("no room"))
  const refused = expect(doOnce(lock, isDone, fails)).rejects.toThrow("no room")
  await doOnce(lock, isDone, work)
  await refused
  expect(state.count).toBe(1)
})
