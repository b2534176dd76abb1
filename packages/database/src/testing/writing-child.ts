import { writeSync } from "node:fs"
import { sql } from "../sql.ts"
import { openAgain } from "./test-databases.ts"

// Writes for ever, several at a time, and names each row on stdout once the write was acknowledged.
// Its parent kills it.
const [url = "", path = ""] = process.argv.slice(2)
const db = await openAgain(url === "" ? { url: undefined, path } : { url })

async function writeForEver(chain: number): Promise<void> {
  for (let number = 0; ; number += 1) {
    const name = `${chain}-${number}`
    await db.write(function* () {
      yield sql`insert into items (name) values (${name})`
      yield sql`insert into copies (name) values (${name})`
    })
    writeSync(1, `${name}\n`)
  }
}

await Promise.all([1, 2, 3, 4].map(writeForEver))
