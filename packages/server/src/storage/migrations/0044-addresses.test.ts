import { expect, test } from "bun:test"
import { migrate, sql } from "@hamlet/database"
import { insertValRows } from "../../../test/support/data/insert-val-rows.ts"
import { describeEachDatabase } from "../../../test/support/databases.ts"
import { createValStore } from "../vals/vals.ts"
import { migrations } from "./index.ts"

const user = Bun.randomUUIDv7()
const newId = () => Bun.randomUUIDv7()

interface OldVal {
  readonly id: string
  readonly entry: { readonly id: string; readonly type: string }
}

describeEachDatabase("addresses", (open) => {
  test("keeps the file that each address answers with", async () => {
    const { db } = await open({ isEmpty: true })
    await migrate(
      db,
      migrations.filter(({ version }) => version < 44),
    )
    const own = newId()
    const vals = {
      coded: { id: own, entry: { id: own, type: "http" } },
      script: (({ id }) => ({ id, entry: { id, type: "script" } }))({ id: newId() }),
      folder: { id: newId(), entry: { id: newId(), type: "http" } },
      mail: { id: newId(), entry: { id: newId(), type: "email" } },
      cron: { id: newId(), entry: { id: newId(), type: "interval" } },
    } satisfies Record<string, OldVal>
    await db.write(function* () {
      yield sql`insert into users (id, username, username_key, created_at) values (${user}, 'ada', 'ada', 1)`
      for (const [name, { id, entry }] of Object.entries(vals)) {
        yield* insertValRows({ id, ownerId: user, name })
        yield sql`update files set id = ${entry.id} where branch_id = ${id}`
        yield sql`update states set file_id = ${entry.id}, type = ${entry.type} where branch_id = ${id}`
        yield sql`update branches set entry_type = ${entry.type} where id = ${id}`
        yield sql`insert into webhooks (id, owner_id, target_val_id, events, has_run_events, status, key_id, sealed, created_at, updated_at)
          values (${id}, ${user}, ${id}, '[]', 0, 'active', 'k', ${new Uint8Array([1])}, 1, 1)`
      }
    })

    await migrate(db, migrations)

    const found = await db.read<{ name: string; web: string | null; mail: string | null }>(
      sql`select name, endpoint_file_id as web, mail_file_id as mail from vals`,
    )
    const { coded, script, folder, mail } = vals
    expect(Object.fromEntries(found.map((row) => [row.name, [row.web, row.mail]]))).toEqual({
      coded: [coded.id, coded.id],
      script: [script.id, script.id],
      folder: [folder.entry.id, null],
      mail: [null, mail.entry.id],
      cron: [null, null],
    })
    const called = await db.read<{ id: string; file: string }>(
      sql`select target_val_id as id, target_file_id as file from webhooks`,
    )
    for (const { id, entry } of Object.values(vals))
      expect(called).toContainEqual({ id, file: entry.id })
    expect(await createValStore(db).findById(folder.id)).toMatchObject({
      endpointFileId: folder.entry.id,
      file: { id: folder.entry.id },
    })
  })

  test("a val that a node of the release before makes has no such file until it is saved", async () => {
    const { db } = await open({ isEmpty: true })
    await migrate(db, migrations)
    const id = newId()
    await db.write(function* () {
      yield sql`insert into users (id, username, username_key, created_at) values (${user}, 'ada', 'ada', 1)`
      yield* insertValRows({ id, ownerId: user, name: "late" })
    })
    const vals = createValStore(db)
    expect(await vals.findById(id)).toMatchObject({ endpointFileId: null, mailFileId: null })

    await vals.change(id, { type: "http" }, () => {}, Date.now())

    expect(await vals.findById(id)).toMatchObject({ endpointFileId: id, mailFileId: id })
  })
})
