import { expect, test } from "bun:test"
import { migrate, sql } from "@hamlet/database"
import { describeEachDatabase } from "../../../test/support/databases.ts"
import { createNodeStore } from "../nodes.ts"
import { migrations } from "./index.ts"

const id = Bun.randomUUIDv7()

describeEachDatabase("node-reports", (open) => {
  test("a node of release 0.2 has no report, and goes on as it did", async () => {
    const { db } = await open({ isEmpty: true })
    await migrate(
      db,
      migrations.filter(({ version }) => version < 41),
    )
    const add = () =>
      db.write(function* () {
        yield sql`insert into nodes (id, host, pid, pid_started, lease_until)
          values (${id}, 'here', 7, 'x', ${db.dialect.now} + 20000)
          on conflict (id) do update set lease_until = excluded.lease_until, is_gone = 0, begun = null, claims = null`
      })
    await add()

    await migrate(db, migrations)

    const list = async () => (await createNodeStore(db).listPage({ offset: 0, limit: 9 })).items
    const before = await list()
    expect(before).toMatchObject([{ id, host: "here", pid: 7, isGone: false, report: null }])
    await add()
    expect(await list()).toMatchObject([{ id, report: null }])
  })
})
