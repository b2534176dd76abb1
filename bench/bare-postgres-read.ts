// The lowest cost of reading a val over HTTP from PostgreSQL, with Bun's client and its default
// number of connections.
import { SQL } from "bun"
import { type BareRow, bareColumns, toBareAnswer, toId } from "./speed/bare-val.ts"

const sql = new SQL(process.env.BARE_DATABASE ?? "", { adapter: "postgres" })
const columns = sql.unsafe(bareColumns)

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    const [row]: BareRow[] = await sql`select ${columns} where v.id = ${toId(request)}`
    return row ? Response.json(toBareAnswer(row)) : new Response(null, { status: 404 })
  },
})
console.log(`listens at http://127.0.0.1:${server.port}`)
