import { writeSync } from "node:fs"
import { migrate } from "../../../src/storage/database/migrate.ts"
import { migrations } from "../../../src/storage/migrations/index.ts"
import { openAgain } from "../databases.ts"

/** Much longer than its parent may stand still. */
const waitMsMax = 600_000

// Migrates as a node does when it starts. When it has copied so many vals, it says so and waits, so
// that its parent can kill it there.
const [url = "", path = "", valsCopied = ""] = process.argv.slice(2)
const db = await openAgain(url === "" ? { url: undefined, path } : { url })
await migrate(db, migrations, (_, { done }) => {
  if (done < Number(valsCopied)) return
  writeSync(1, `${done}\n`)
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, waitMsMax)
})
await db.stop()
