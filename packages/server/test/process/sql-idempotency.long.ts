import { describe, expect, test } from "bun:test"
import { hasLibsql, startLibsql } from "@hamlet/owner-databases/testing"
import { describePostgres, describeSqlite, type OpenDatabase } from "../support/databases.ts"
import { chosenToken, openServerFixture } from "../support/server-fixture.ts"

const count = 32
const title = "hamlet serve, killed during SQL with an idempotency key,"

describeSqlite(`${title} with databases in files`, (open) => {
  test("executes each statement once when it is sent again", async () => {
    await killAndRepeat(open)
  }, 240_000)
})

describe.if(hasLibsql(title))("", () => {
  describePostgres(`${title} with databases on a libSQL server`, (open) => {
    test("executes each statement once when it is sent again", async () => {
      await using server = await startLibsql()
      await killAndRepeat(open, server.env)
    }, 240_000)
  })
})

/** Kills the server while it executes statements and batches, and sends all of them again. */
async function killAndRepeat(
  open: OpenDatabase,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  await using fixture = await openServerFixture(open)
  const before = await fixture.serve(env)
  const create = "create table t (a); create table u (a)".split(";")
  await expectDone(send(before.baseUrl, "batch", { statements: create }, "create"))
  const sent = Array.from({ length: count }, (_, index) => sendBoth(before.baseUrl, index)).flat()
  // When some are answered, others are committed and their responses are not stored yet.
  await Promise.any(sent)
  before.hamlet.signal("SIGKILL")
  await before.hamlet.ended()
  await Promise.allSettled(sent.map(async (response) => (await response).text()))

  const { baseUrl } = await fixture.serve(env)
  const texts: string[] = []
  for (let index = 0; index < count; index++)
    for (const response of sendBoth(baseUrl, index)) texts.push(await expectDone(response))
  for (let index = 0; index < count; index++)
    for (const [which, response] of sendBoth(baseUrl, index).entries())
      expect(await expectDone(response)).toBe(texts[2 * index + which] ?? "")
  for (const table of ["t", "u"]) {
    const statement = `select a, count(*) from ${table} group by a order by a`
    const result = JSON.parse(await expectDone(send(baseUrl, "execute", { statement }, table)))
    expect([table, result.rows]).toEqual([
      table,
      Array.from({ length: count }, (_, index) => [index, 1]),
    ])
  }
}

/** A statement, and a batch. */
function sendBoth(baseUrl: string, index: number): readonly Promise<Response>[] {
  const insert = `insert into t values (${index})`
  const statements = [`insert into u values (${index})`, "select count(*) >= 0 from u"]
  return [
    send(baseUrl, "execute", { statement: insert }, `execute ${index}`),
    send(baseUrl, "batch", { statements }, `batch ${index}`),
  ]
}

function send(baseUrl: string, route: string, body: object, key: string): Promise<Response> {
  return fetch(`${baseUrl}/v1/sqlite/${route}`, {
    method: "POST",
    headers: { authorization: `Bearer ${chosenToken}`, "idempotency-key": key },
    body: JSON.stringify(body),
  })
}

async function expectDone(sending: Promise<Response>): Promise<string> {
  const response = await sending
  const text = await response.text()
  expect([response.status, text]).toEqual([200, text])
  return text
}
