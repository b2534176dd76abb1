import { writeSync } from "node:fs"
import { migrate } from "../migrations/migrate.ts"
import { openAgain } from "./test-databases.ts"

// Migrates as a node does when it starts. Told to stop half-way, it says so after the first
// statement of the second step and then stands still, until its parent kills it.
const [url = "", path = "", isToStop = ""] = process.argv.slice(2)
const db = await openAgain(url === "" ? { url: undefined, path } : { url })

function* halfWay(): Generator<string, undefined> {
  yield "create table half (a integer)"
  if (isToStop === "") return
  writeSync(1, "half-way\n")
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}

const { from, to } = await migrate(db, [
  {
    version: 1,
    name: "first",
    statements: () => ["create table whole (a integer)", "insert into whole values (1)"],
  },
  {
    version: 2,
    name: "second",
    statements: () => Object.assign([""], { [Symbol.iterator]: halfWay }),
  },
])
writeSync(1, `${from} ${to}\n`)
await db.stop()
