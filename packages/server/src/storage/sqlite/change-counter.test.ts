import { Database } from "bun:sqlite"
import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openChangeCounter } from "./change-counter.ts"

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "stamp-"))
  path = join(folder, "x.db")
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function open(): Database {
  const database = new Database(path)
  database.run("pragma journal_mode = wal")
  database.run("create table if not exists notes (text)")
  return database
}

/** Opens the file in another process, and does something with it there. */
function elsewhere(code: string): string {
  const script = `const { Database } = require("bun:sqlite"); const db = new Database(${JSON.stringify(path)}); ${code}`
  const { stdout, stderr, exitCode } = Bun.spawnSync([process.execPath, "-e", script])
  if (exitCode !== 0) throw new Error(stderr.toString())
  return stdout.toString().trim()
}

describe("openStamp", () => {
  test("gives the same number while nothing is written, and another one after each commit", () => {
    using database = open()
    const stamp = openChangeCounter(path)
    const seen = new Set<number | undefined>()
    for (let round = 0; round < 20; round++) {
      const before = stamp?.ask()
      expect(stamp?.ask()).toBe(before)
      seen.add(before)
      database.run("insert into notes values ('a')")
    }
    expect(seen.size).toBe(20)
    expect(seen.has(undefined)).toBe(false)
    database.close()
    stamp?.stop()
  })

  test("says nothing of what is not committed, and is not misled by a file that starts anew", () => {
    using database = open()
    const stamp = openChangeCounter(path)
    const before = stamp?.ask()
    database.run("begin")
    database.run("insert into notes values ('a')")
    expect(stamp?.ask()).toBe(before)
    database.run("rollback")
    expect(stamp?.ask()).toBe(before)
    const seen = new Set([before])
    for (let round = 0; round < 10; round++) {
      database.run("pragma wal_checkpoint(truncate)")
      const emptied = stamp?.ask()
      database.run("insert into notes values ('a')")
      seen.add(stamp?.ask())
      expect(stamp?.ask()).not.toBe(emptied)
    }
    expect(seen.size).toBe(11)
    database.close()
    stamp?.stop()
  })

  test("hears of another process", () => {
    using database = open()
    const stamp = openChangeCounter(path)
    const before = stamp?.ask()
    elsewhere(`db.run("insert into notes values ('b')")`)
    expect(stamp?.ask()).not.toBe(before)
    database.close()
    stamp?.stop()
  })

  test("leaves the locks of other databases of this process alone", () => {
    using one = open()
    using other = open()
    const stamps = [openChangeCounter(path), openChangeCounter(path)]
    one.run("begin immediate")
    one.run("insert into notes values ('mine')")
    stamps[0]?.stop()
    expect(
      elsewhere(
        `try { db.run("insert into notes values ('theirs')") } catch (error) { console.log(error.code) }`,
      ),
    ).toBe("SQLITE_BUSY")
    one.run("commit")
    expect(other.query("select text from notes").values()).toEqual([["mine"]])
    one.close()
    other.close()
    stamps[1]?.stop()
  })

  test("is nothing where there is no such file", () => {
    expect(openChangeCounter(join(folder, "none.db"))).toBeUndefined()
  })
})
