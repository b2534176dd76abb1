import { writeSync } from "node:fs"
import { migrate } from "../../../src/storage/database/migrate.ts"
import { migrations } from "../../../src/storage/migrations/index.ts"
import { openAgain } from "../databases.ts"

// Migrates as a node does when it starts. It writes how many vals it has copied, and waits a moment
// each time, so that its parent can kill it there.
const [url = "", path = ""] = process.argv.slice(2)
const db = await openAgain(url === "" ? { url: undefined, path } : { url })
await migrate(db, migrations, (_, { done }) => {
  writeSync(1, `${done}\n`)
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
})
await db.stop()
