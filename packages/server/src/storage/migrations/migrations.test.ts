import { expect, test } from "bun:test"
import { describeEachDatabase } from "../../../test/support/databases.ts"
import type { Database } from "../database/database.ts"
import { migrate } from "../database/migrate.ts"
import { dumpSchema } from "../database/schema-dump.ts"
import { sql } from "../database/sql.ts"
import { migrations } from "./index.ts"

// HAMLET_UPDATE_SCHEMA=1 writes the dumps and the hashes of the newest migration. It leaves the
// hashes of older migrations alone: these have landed.
const isUpdate = process.env.HAMLET_UPDATE_SCHEMA === "1"
const newest = migrations.at(-1)?.version ?? 0

/** SHA-256 of the statements of a migration, and of the dump of the schema after it. */
interface LandedHashes {
  readonly statements: string
  readonly schema: string
}

const hash = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest("hex")
const fileOf = (db: Database, suffix: string) =>
  Bun.file(new URL(`../schema/${db.dialect.name.toLowerCase()}${suffix}`, import.meta.url))

async function readLanded(db: Database): Promise<Record<string, LandedHashes>> {
  const file = fileOf(db, "-migrations.json")
  return (await file.exists()) ? await file.json() : {}
}

/** Rows in the tables that later migrations change, written with the columns of version 1. */
async function insertRows(db: Database): Promise<void> {
  const [user, val, token] = [Bun.randomUUIDv7(), Bun.randomUUIDv7(), Bun.randomUUIDv7()]
  await db.write(function* () {
    yield sql`insert into users (id, username, username_key, created_at) values (${user}, 'ada', 'ada', 1)`
    yield sql`insert into tokens (id, user_id, hash, name, scopes, created_at)
      values (${token}, ${user}, ${Buffer.alloc(32)}, 'laptop', 'admin', 1)`
    yield sql`insert into vals (id, owner_id, name, name_key, privacy, type, version, version_last, created_at, updated_at)
      values (${val}, ${user}, 'hello', 'hello', 'public', 'script', 1, 1, 1, 1)`
    yield sql`insert into versions (val_id, version, created_at, code) values (${val}, 1, 1, '1')`
    yield sql`insert into imports (val_id, version, username_key, name_key) values (${val}, 1, 'bob', 'math')`
    yield sql`insert into idempotency_keys (user_id, key, fingerprint, expires_at)
      values (${user}, 'k', ${Buffer.alloc(32)}, 1)`
    yield sql`insert into search_texts (val_id, is_public, name, body) values (${val}, 1, 'hello', 'body')`
  })
}

describeEachDatabase("migrations", (open) => {
  test("have the statements that they landed with, and lead from each version, with rows in its tables, to the schema of the next", async () => {
    const { db } = await open({ isEmpty: true })
    const hashes: Record<string, LandedHashes> = {}
    for (const [index, { version, name, statements }] of migrations.entries()) {
      expect(await migrate(db, migrations.slice(0, index + 1))).toEqual({
        from: migrations[index - 1]?.version ?? 0,
        to: version,
      })
      if (index === 0) await insertRows(db)
      hashes[`${version} ${name}`] = {
        statements: hash(statements(db.dialect).join(";\n")),
        schema: hash(await dumpSchema(db)),
      }
    }

    const landed = await readLanded(db)
    const updated = Object.fromEntries(
      Object.entries(hashes).map(([key, now]) => [
        key,
        key.startsWith(`${newest} `) ? now : (landed[key] ?? now),
      ]),
    )
    if (isUpdate)
      await Bun.write(fileOf(db, "-migrations.json"), `${JSON.stringify(updated, null, 2)}\n`)
    expect(hashes).toEqual(isUpdate ? updated : landed)
  })

  test("lead from an empty database to the schema that is checked in", async () => {
    const { db } = await open({ isEmpty: true })

    await migrate(db, migrations)

    const schema = await dumpSchema(db)
    if (isUpdate) await Bun.write(fileOf(db, ".sql"), schema)
    expect(schema).toBe(await fileOf(db, ".sql").text())
  })

  test("lead from the first version, with rows in its tables, to the schema that is checked in", async () => {
    const { db } = await open({ isEmpty: true })
    await migrate(db, migrations.slice(0, 1))
    await insertRows(db)

    expect(await migrate(db, migrations)).toEqual({ from: 1, to: newest })

    expect(await dumpSchema(db)).toBe(await fileOf(db, ".sql").text())
  })
})
