import { expect, test } from "bun:test"
import { sql } from "@hamlet/database"
import { describeEachDatabase } from "../../../test/support/databases.ts"
import { checkOutboxes } from "./check-outboxes.ts"

describeEachDatabase("checkOutboxes", (open) => {
  test("counts webhooks and messages that wait, and warns of those that no server sends", async () => {
    const { db } = await open()
    const view = { ...db, hasOwnClock: false }
    const find = async () =>
      (await checkOutboxes(view)).map(({ check, status, found }) => `${status} ${check}: ${found}`)
    expect(await find()).toEqual([
      "ok webhooks: 0 active; no messages wait",
      "ok mail to be sent: no messages wait",
    ])
    const id = Bun.randomUUIDv7()
    const add = (dueAt: number) =>
      db.write(function* () {
        yield sql`insert into users (id, username, username_key, created_at) values (${id}, 'ada', 'ada', 1) on conflict do nothing`
        yield sql`insert into emails (id, account_id, kind, sender, recipients, recipient_count, subject, bytes, stored_bytes, status, next_attempt_at, created_at)
          values (${Bun.randomUUIDv7()}, ${id}, 'api', 'a@b.example', '[]', 1, '', 1, 1, 'waiting', ${dueAt}, 1)`
      })
    await add(Date.now() + 3_600_000)
    expect((await find()).at(-1)).toBe("ok mail to be sent: 1 message waits")
    await add(Date.now() - 30 * 60_000)
    expect((await find()).at(-1)).toBe(
      "warning mail to be sent: 2 messages wait, the first of them since 30 minutes",
    )
  })
})
