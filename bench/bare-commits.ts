// Commits one row after the other, each in a transaction of its own: the speed of the disk, as the
// database sees it.
import { Database } from "bun:sqlite"
import { SQL } from "bun"
import { codeOfSave } from "./harness/load.ts"

const [place = "", seconds = "1"] = process.argv.slice(2)
const insert = place.startsWith("postgres:") ? await openPostgres(place) : openSqlite(place)

let count = 0
const began = performance.now()
const end = began + Number(seconds) * 1_000
while (performance.now() < end) await insert(`${codeOfSave}// ${count++}`)
console.log(count / ((performance.now() - began) / 1_000))
process.exit()

function openSqlite(path: string): (code: string) => void {
  const connection = new Database(path)
  for (const pragma of ["journal_mode = wal", "synchronous = full", "fullfsync = on"])
    connection.run(`pragma ${pragma}`)
  connection.run(
    "create table if not exists bare (id integer primary key, code text not null) strict",
  )
  const statement = connection.query("insert into bare (code) values (?)")
  return (code) => void statement.run(code)
}

async function openPostgres(url: string): Promise<(code: string) => Promise<void>> {
  const sql = new SQL(url, { adapter: "postgres", max: 1 })
  await sql`create table if not exists bare (id bigint generated always as identity primary key, code text not null)`
  return async (code) => {
    await sql`insert into bare (code) values (${code})`
  }
}
