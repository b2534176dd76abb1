import { Database as Connection } from "bun:sqlite"
import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { waitUntil } from "@hamlet/kit/testing"
import { type Database, rows } from "../database.ts"
import { openSqlite } from "./open.ts"
import { byThread, writeNotes } from "./testing/notes.ts"
import { SqliteThreadWriter } from "./thread-writer.ts"

const small = { isLarge: false }
const large = { isLarge: true }
const nextTurn = () => new Promise((resolve) => setImmediate(resolve))
const { module } = byThread([])
let folder: string
let path: string
let db: Database
let writer: SqliteThreadWriter
let notices: string[]

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "hamlet-test-"))
  path = join(folder, "hamlet.db")
  db = openSqlite(path)
  await db.run`create table notes (text text not null check (text <> 'bad'), is_told integer) strict`
  notices = []
  writer = toWriter(path)
})

afterEach(async () => {
  await writer.stop()
  await db.stop()
  // The last connection that closes removes the WAL: its absence shows that none was left open.
  expect(readdirSync(folder)).toEqual(["hamlet.db"])
  rmSync(folder, { recursive: true })
})

function toWriter(file: string): SqliteThreadWriter {
  return new SqliteThreadWriter(
    module,
    { path: file, preparedMax: 100, openMsMax: 1_000 },
    (channel) => void notices.push(channel),
  )
}

const countNotes = async () =>
  (await db.first<{ count: number }>`select count(*) as count from notes`)?.count

const isReady = () => waitUntil(() => writer.canWrite(large))

describe("SqliteThreadWriter", () => {
  test("starts for a large write, and takes every write once it is ready", async () => {
    for (let turn = 0; turn < 50; turn++) {
      expect(writer.canWrite(small)).toBe(false)
      await nextTurn()
    }
    expect(writer.isReady).toBe(false)
    expect(writer.canWrite(large)).toBe(false)
    await isReady()
    expect(writer.canWrite(small)).toBe(true)
  })

  test("writes what other connections then read unchanged, and returns the value of the script", async () => {
    const texts = ['no\ud800"\\', "http://x/\u2028", "ä"]
    await isReady()
    expect(await writer.write({ texts })).toMatchObject({ value: 3 })
    expect(await db.read`select text, is_told from notes`).toEqual(
      texts.map((text) => ({ text: text.toWellFormed(), isTold: true })),
    )
    expect(notices).toEqual(["notes_3"])
  })

  test("writes nothing while another process writes, and never a part of a write", async () => {
    await isReady()
    const other = new Connection(path)
    other.run("begin immediate")
    expect(await writer.write({ texts: ["one"] })).toBe("failed")
    other.run("rollback")
    other.close()
    expect(await writer.write({ texts: ["one", "bad"] })).toBe("failed")
    expect(notices).toEqual([])
    expect(await writer.write({ texts: ["one"] })).toMatchObject({ value: 1 })
  })

  test("writes nothing to a file that it cannot open", async () => {
    const lost = toWriter(join(folder, "missing", "hamlet.db"))
    expect(lost.canWrite(large)).toBe(false)
    await lost.stop()
    expect(lost.canWrite(large)).toBe(false)
    expect(await lost.write({ texts: ["one"] })).toBe("failed")
  })

  test("can be stopped before it is ready", async () => {
    writer.canWrite(large)
    await writer.stop()
    expect(await writer.write({ texts: ["one"] })).toBe("failed")
  })
})

describe("openSqlite with a thread that writes", () => {
  const add = (...texts: string[]) =>
    db.write(() => writeNotes({ texts }), { byThread: byThread(texts) })

  /** Until the thread is ready, the main thread writes. */
  async function warmUp(): Promise<void> {
    await add("first", "second")
    await waitUntil(() => db.stats().connections >= 3)
  }

  test("keeps the order of writes, whichever connection does them", async () => {
    await warmUp()
    const all: Promise<unknown>[] = []
    for (const write of [
      () => add("one", "two"),
      () => db.write(() => rename("one", "three")),
      () => add("one", "four"),
      () => db.write(() => rename("three", "five")),
      () => db.write(() => rename("one", "three")),
    ]) {
      all.push(write())
      // Some arrive while the thread is writing.
      await nextTurn()
    }
    expect((await Promise.allSettled(all)).map(({ status }) => status)).toEqual(
      all.map(() => "fulfilled"),
    )
  })

  /** Fails unless there is exactly one such note. */
  function* rename(from: string, to: string) {
    const changed = yield* rows`update notes set text = ${to} where text = ${from} returning text`
    if (changed.length !== 1) throw new Error(`${changed.length} notes are ${from}`)
  }

  test("changes the change count before a write is acknowledged", async () => {
    await warmUp()
    let isOver = false
    // Reads the change count at the beginning of a turn, before the reply of the thread arrives.
    const ask = () => {
      if (isOver) return
      db.changeCount?.()
      setImmediate(ask)
    }
    ask()
    for (let round = 0; round < 50; round++) {
      const before = db.changeCount?.()
      await add("one", "two")
      expect(db.changeCount?.()).not.toBe(before)
    }
    isOver = true
  })

  test("writes itself what the thread could not write, and reports the error", async () => {
    await warmUp()
    const before = await countNotes()
    expect(await add("one", "bad").catch((error: Error) => error.name)).toBe("ConstraintError")
    expect(await countNotes()).toBe(before)
    const other = new Connection(path)
    other.run("begin immediate")
    const waiting = add("one", "two")
    await nextTurn()
    other.run("rollback")
    other.close()
    await waiting
    expect(await countNotes()).toBe((before ?? 0) + 2)
  })

  test("returns what the thread has found", async () => {
    await warmUp()
    const count = (await countNotes()) ?? 0
    expect(await add("one")).toBe(count + 1)
    expect(await add("two", "three")).toBe(count + 3)
  })

  test("finishes earlier writes before it stops", async () => {
    await warmUp()
    const before = (await countNotes()) ?? 0
    const writing = [add("one", "two"), add("three", "four")]
    await Promise.resolve()
    await db.stop()
    await Promise.all(writing)
    db = openSqlite(path)
    expect(await countNotes()).toBe(before + 4)
  })
})
