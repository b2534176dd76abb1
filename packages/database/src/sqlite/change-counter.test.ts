import { Database as Connection } from "bun:sqlite"
import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Database } from "../database.ts"
import { createChangeCounter } from "./change-counter.ts"
import { openSqlite } from "./open.ts"

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

describe("createChangeCounter", () => {
  test("reads the data version once per turn of the event loop, and again when it has expired", async () => {
    let reads = 0
    const counter = createChangeCounter(() => ++reads)

    expect([counter.read(), counter.read()]).toEqual([1, 1])
    counter.expire()
    expect([counter.read(), counter.read()]).toEqual([2, 2])
    await nextTurn()
    expect(counter.read()).toBe(3)
  })
})

describe("changeCount (SQLite)", () => {
  let folder: string
  let path: string
  let db: Database
  let connection: Connection

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "change-counter-"))
    path = join(folder, "x.db")
    db = openSqlite(path)
    connection = new Connection(path)
    connection.run("create table if not exists notes (text)")
  })

  afterEach(async () => {
    connection.close()
    await db.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  async function readCount(): Promise<number | undefined> {
    await nextTurn()
    return db.changeCount?.()
  }

  /** Opens the file in another process and runs code with it as `db`. */
  function runElsewhere(code: string): string {
    const script = `const { Database } = require("bun:sqlite"); const db = new Database(${JSON.stringify(path)}); ${code}`
    const { stdout, stderr, exitCode } = Bun.spawnSync([process.execPath, "-e", script])
    if (exitCode !== 0) throw new Error(stderr.toString())
    return stdout.toString().trim()
  }

  test("stays the same while nothing is written, and differs after each commit", async () => {
    const counts = new Set<number | undefined>()
    for (let round = 0; round < 20; round++) {
      const before = await readCount()
      expect(await readCount()).toBe(before)
      counts.add(before)
      connection.run("insert into notes values ('a')")
    }
    expect(counts.size).toBe(20)
    expect(counts.has(undefined)).toBe(false)
  })

  test("ignores what is not committed, and differs after a commit to a log that starts anew", async () => {
    const before = await readCount()
    connection.run("begin")
    connection.run("insert into notes values ('a')")
    expect(await readCount()).toBe(before)
    connection.run("rollback")
    expect(await readCount()).toBe(before)
    const counts = new Set([before])
    for (let round = 0; round < 10; round++) {
      connection.run("pragma wal_checkpoint(truncate)")
      const emptied = await readCount()
      connection.run("insert into notes values ('a')")
      counts.add(await readCount())
      expect(await readCount()).not.toBe(emptied)
    }
    expect(counts.size).toBe(11)
  })

  test("differs after a commit of another process", async () => {
    const before = await readCount()
    runElsewhere(`db.run("insert into notes values ('b')")`)
    expect(await readCount()).not.toBe(before)
  })

  test("leaves the locks of other connections of this process alone", async () => {
    const other = openSqlite(path)
    connection.run("begin immediate")
    connection.run("insert into notes values ('mine')")
    other.changeCount?.()
    await other.stop()
    const insert = `try { db.run("insert into notes values ('theirs')") } catch (error) { console.log(error.code) }`
    expect(runElsewhere(insert)).toBe("SQLITE_BUSY")
    connection.run("commit")
    expect(connection.query("select text from notes").values()).toEqual([["mine"]])
  })
})
