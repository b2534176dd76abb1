import type { Database } from "./database.ts"
import { raw } from "./sql.ts"

/** Between two looks at a build of another node. */
const lookMs = 500

/** An index, as it is written after `create index`. */
export interface IndexDefinition {
  readonly name: string
  readonly table: string
  /** What is indexed: `(owner_id, created_at) where deleted_at is null`. */
  readonly on: string
}

/**
 * Builds an index while others read and write the table, for the preparation of a migration. It may
 * be killed, and nodes may do it together: a build that was killed leaves an index that is not
 * valid, which is dropped first. The statements of the migration repeat the index with
 * `create index if not exists`.
 */
export async function buildIndex(
  db: Database,
  { name, table, on }: IndexDefinition,
): Promise<void> {
  const { indexBuild } = db.dialect
  const text = `${name} on ${table} ${on}`
  if (indexBuild === undefined) {
    await db.writeOne(raw(`create index if not exists ${text}`), { isPatient: true })
    return
  }
  for (;;) {
    const [found] = await db.read<{ is_valid: boolean; is_building: boolean }>(
      indexBuild.find(name, table),
    )
    if (found?.is_valid) return
    if (found?.is_building) {
      await Bun.sleep(lookMs)
      continue
    }
    // Two nodes that begin at once can stop each other; the next round finds what is left of it.
    for (const statement of [indexBuild.drop(name), indexBuild.create(text)])
      await db.writeOne(statement, { isPatient: true })
  }
}
