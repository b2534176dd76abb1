import { chooseLimits } from "../harness/brief.ts"

const limits = chooseLimits(
  { count: 4_000, single: 400, warmUp: 200, writes: 1_000 },
  { count: 32, single: 4, warmUp: 1, writes: 16 },
)

/**
 * Code that measures itself, on Deno: many requests at once for their rate, then one after the other
 * for the time of each.
 */
const measuring = `async function measure(work: () => Promise<unknown>, count = ${limits.count}) {
  const atOnce = 16, single = ${limits.single}
  for (let index = 0; index < ${limits.warmUp}; index++) await work()
  const began = performance.now()
  let begun = 0
  await Promise.all(Array.from({ length: atOnce }, async () => { while (begun++ < count) await work() }))
  const rate = (count * 1_000) / (performance.now() - began)
  const times: number[] = []
  for (let index = 0; index < single; index++) {
    const start = performance.now()
    await work()
    times.push(performance.now() - start)
  }
  return { rate, p50Ms: times.sort((left, right) => left - right)[single / 2] }
}
`

/** Its result. */
export interface Measured {
  readonly rate: number
  readonly p50Ms: number
}

/** Fetches the address, which is a parameter, so that the code is the same everywhere. */
export const fetchingCode = `${measuring}
export const run = (url: string) => measure(async () => { await (await fetch(url)).text() })
export default (request: Request) => run(new URL(request.url).searchParams.get("url") ?? "")
`

/** The fetching code as a program. */
export const fetchingProgram = `${fetchingCode}
console.log(JSON.stringify(await run(Deno.args[0] ?? "")))
`

/**
 * Queries a database, or transfers bytes in one direction. The rate is how often a second; the time
 * to connect counts for the bytes only, of which there are many.
 */
export const socketCode = `import net from "node:net"
import pg from "npm:pg@8.23.1"
async function query(address: string) {
  const client = new pg.Client({ connectionString: address })
  await client.connect()
  const count = 1_000
  for (let index = 0; index < count; index++) await client.query("select 1")
  const began = performance.now()
  for (let index = 0; index < count; index++) await client.query("select 1")
  const ms = performance.now() - began
  await client.end()
  return (count * 1_000) / ms
}
function transfer(what: string, address: string, bytes: number) {
  const [host = "", port] = address.split(":")
  return new Promise<number>((resolve, reject) => {
    const began = performance.now()
    const part = new Uint8Array(65_536)
    const socket = net.connect(Number(port), host)
    let received = 0
    socket.on("error", reject)
    socket.on("data", ({ length }) => { received += length })
    socket.on("close", () => {
      if (what === "down" && received !== bytes) reject(new Error("received " + received))
      else resolve(1_000 / (performance.now() - began))
    })
    socket.on("connect", () => {
      socket.write(what)
      if (what === "down") return
      let left = bytes
      const pour = () => {
        while (left > 0) {
          left -= part.length
          if (!socket.write(part)) return void socket.once("drain", pour)
        }
      }
      pour()
    })
  })
}
export const run = async (options: URLSearchParams) => {
  const [what = "", address = "", bytes] = ["what", "address", "bytes"].map((name) => options.get(name) ?? "")
  return { rate: what === "query" ? await query(address) : await transfer(what, address, Number(bytes)), p50Ms: 0 }
}
export default (request: Request) => run(new URL(request.url).searchParams)
`

/** The socket code as a program. */
export const socketProgram = `${socketCode}
console.log(JSON.stringify(await run(new URLSearchParams(Deno.args[0] ?? ""))))
`

/** Uses the standard library of vals. */
export function toStorageCode(baseUrl: string): string {
  return `import { blob } from "${baseUrl}/std/blob"
import { sqlite } from "${baseUrl}/std/sqlite"
${measuring}
export default async (request: Request) => {
  if (new URL(request.url).pathname === "/blob") {
    await blob.set("a-key", new Uint8Array(1_024))
    return measure(async () => { await (await blob.get("a-key")).arrayBuffer() })
  }
  await sqlite.execute("create table if not exists things (id integer primary key, name text)")
  await sqlite.batch(["delete from things", ...Array.from({ length: 500 }, (_, id) => ({ sql: "insert into things values (?, ?)", args: [id, "thing " + id] }))])
  let id = 0
  return measure(() => sqlite.execute({ sql: "select name from things where id = ?", args: [id++ % 500] }))
}
`
}

/** What is done in a database: the path of a val, and statements as JSON for the API. */
export const databaseWork = {
  "/read": { count: limits.count, name: "a keyed read" },
  "/write": { count: limits.writes, name: "an insert" },
  "/batch": { count: limits.writes, name: "a batch of 10 inserts" },
} as const

/** How often a measurement does it. */
export function countDone(path: keyof typeof databaseWork): number {
  return databaseWork[path].count + limits.single + limits.warmUp
}

/** The measuring code as a function, for work of the benchmark itself. */
export const measureWork = new Function(
  "work",
  "count",
  `${new Bun.Transpiler({ loader: "ts" }).transformSync(measuring)}\nreturn measure(work, count)`,
) as (work: () => Promise<unknown>, count: number) => Promise<Measured>

/** Uses the database of the standard library. */
export function toDatabaseCode(baseUrl: string): string {
  return `import { sqlite } from "${baseUrl}/std/sqlite"
${measuring}
const insert = (id: number) => ({ sql: "insert into things (name) values (?)", args: ["thing " + id] })
export default (request: Request) => run(request).catch((error) => new Response(String(error), { status: 500 }))
const run = async (request: Request) => {
  await sqlite.batch(["drop table if exists things", "create table things (id integer primary key, name text)"])
  await sqlite.batch(Array.from({ length: 500 }, (_, id) => insert(id)))
  const { pathname } = new URL(request.url)
  let id = 0
  return measure(() => {
    id++
    if (pathname === "/write") return sqlite.execute(insert(id))
    if (pathname === "/batch") return sqlite.batch(Array.from({ length: 10 }, () => insert(id)))
    return sqlite.execute({ sql: "select name from things where id = ?", args: [(id % 500) + 1] })
  }, pathname === "/read" ? ${databaseWork["/read"].count} : ${databaseWork["/write"].count})
}
`
}
