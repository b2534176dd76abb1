import { afterEach, beforeEach, expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { toDatabasePath, toValFolder } from "../database-paths.ts"
import { createSizeCounter } from "./size-counter.ts"

const ada = { ownerId: "ada" }
const [one, two] = [
  { ...ada, valId: "one" },
  { ...ada, valId: "two" },
]
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hamlet-sizes-"))
  mkdirSync(toValFolder(folder, "ada"))
})
afterEach(() => rmSync(folder, { recursive: true }))

const write = (home: typeof ada, bytes: number, end = "") =>
  writeFileSync(`${toDatabasePath(folder, home)}${end}`, "x".repeat(bytes))

test("createSizeCounter counts the other databases of the user, with their logs", () => {
  for (const [home, bytes] of [
    [ada, 1],
    [one, 10],
    [two, 100],
    [{ ownerId: "bob" }, 1_000],
  ] as const)
    write(home, bytes)
  write(two, 10_000, "-wal")
  write(two, 5, "-shm")
  const count = (home: typeof ada) => createSizeCounter(folder).countOthers(home)
  expect([ada, one, two, { ownerId: "bob" }].map(count)).toEqual([10_110, 10_101, 11, 0])
})

test("createSizeCounter notices what its own process has written at once", () => {
  const { countOthers } = createSizeCounter(folder)
  for (let bytes = 1; bytes < 50; bytes++) {
    countOthers(one)
    write(one, bytes)
    expect(countOthers(two)).toBe(bytes)
  }
})
