import { expect, test } from "bun:test"
import { runWork, SlowLog, Tracer, type TraceSpan, Work } from "@hamlet/kit"
import { waitUntil } from "@hamlet/kit/testing"
import { firstRow } from "./database.ts"
import { sql } from "./sql.ts"
import { describeEachDatabase } from "./testing/empty-databases.ts"
import { watchDatabase } from "./watched-database.ts"

const secret = "hunter2hunter2"

describeEachDatabase("watchDatabase", (open) => {
  async function watch(msMin: number | undefined) {
    const lines: Record<string, unknown>[] = []
    const slow = new SlowLog(msMin, (fields) => lines.push(fields as Record<string, unknown>))
    const { db } = await open()
    await db.run`create table settings (name text, value text)`
    return { lines, db: watchDatabase(db, slow).db }
  }

  /** A transaction with a statement that writes, one that reads, and two rows. */
  function* script() {
    yield sql`insert into settings (name, value) values (${secret}, ${"1"})`
    yield sql`insert into settings (name, value) values (${`${secret}2`}, ${"2"})`
    return yield* firstRow<{ count: number }>(
      sql`select count(*) as count from settings where name in (${secret}, ${`${secret}2`})`,
    )
  }

  test("logs a slow read and a slow transaction, without their values", async () => {
    const { db, lines } = await watch(0)
    await db.read(sql`select ${secret} as text union all select ${"b"} as text`)
    expect(Number((await db.write(script))?.count)).toBe(2)
    await db.writeOne(sql`delete from settings where name = ${secret}`)
    await waitUntil(() => lines.length === 3)
    const [read, write, one] = lines
    expect(read).toMatchObject({
      kind: "read",
      rows: 2,
      statement: "select $1 as text union all select $2 as text",
    })
    expect(write).toMatchObject({ kind: "write", statements: 3 })
    expect(String(write?.statement)).toMatch(/ settings .*\$1/)
    expect([write?.waitedMs, write?.statementMs, write?.commitMs].map(Number)).not.toContain(
      Number.NaN,
    )
    expect(one).toMatchObject({ kind: "write", statement: "delete from settings where name = $1" })
    expect(JSON.stringify(lines)).not.toContain(secret)
  })

  test("logs what failed, too, and nothing that is quick", async () => {
    const slow = await watch(0)
    await slow.db.read(sql`select * from no_such_table`).catch(() => {})
    await waitUntil(() => slow.lines.length === 1)
    expect(slow.lines).toMatchObject([{ kind: "read", statement: "select * from no_such_table" }])
    const quick = await watch(undefined)
    await quick.db.write(script)
    expect(quick.lines).toEqual([])
  })

  test("adds to the work that waits, and to its trace until that has ended", async () => {
    const { db } = await watch(undefined)
    const spans: TraceSpan[] = []
    const tracer = new Tracer(() => true, { add: (span) => spans.push(span) })
    const span = tracer.start({ name: "request", kind: "server", traceId: "a".repeat(32) })
    const work = new Work(span)
    await runWork(work, async () => {
      await db.read(sql`select ${secret} as text`)
      await db.write(script)
      await waitUntil(() => spans.length === 2)
      span.end()
      await db.read(sql`select 1 as one`)
    })
    await db.read(sql`select 2 as two`)
    expect(work.databaseMs).toBeGreaterThan(0)
    expect(spans.map(({ name, parentId }) => [name, parentId])).toEqual([
      ["database read", span.spanId],
      ["database write", span.spanId],
      ["request", undefined],
    ])
    expect(spans[0]?.attributes).toMatchObject({
      "db.query.text": "select $1 as text",
      "db.response.returned_rows": 1,
    })
    expect(spans[1]?.attributes["hamlet.statements"]).toBe(3)
  })
})
