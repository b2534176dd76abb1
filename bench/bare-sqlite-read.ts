// The lowest cost of reading a val over HTTP: one prepared statement and its row as JSON, without
// router, tokens, logs or anything else.
import { Database } from "bun:sqlite"
import { type BareRow, bareColumns, toBareAnswer, toId } from "./speed/bare-val.ts"

const find = new Database(process.env.BARE_DATABASE, { readonly: true }).query<BareRow, [string]>(
  `select ${bareColumns} where v.id = ?`,
)

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch(request) {
    const row = find.get(toId(request))
    return row ? Response.json(toBareAnswer(row)) : new Response(null, { status: 404 })
  },
})
console.log(`listens at http://127.0.0.1:${server.port}`)
