import {
  type Database,
  type Dialect,
  inBatches,
  list,
  rows,
  type Script,
  type Statement,
  sql,
} from "@hamlet/database"
import type { ValPurge, ValPurgeStore } from "../../domain/val-storage.ts"
import { changeUsage } from "../blobs/blobs.ts"

interface PurgeRow {
  readonly valId: string
  readonly ownerId: string
  readonly dueAt: number
}

/** The deleted vals whose blobs and databases are still to be deleted. */
export function createValPurgeStore(db: Database): ValPurgeStore {
  return {
    async findDue(at) {
      const row = await db.first<PurgeRow>`
        select val_id, owner_id, due_at from val_purges where due_at <= ${at} order by due_at limit 1`
      return row && { valId: row.valId, ownerId: row.ownerId, dueAt: row.dueAt }
    },
    purgeBlobs: (purge, at, countMax) =>
      db.write(() => purgeBlobs(db.dialect, purge, at, countMax)),
    moveTo: ({ valId, dueAt }, nextAt) =>
      db.write(function* () {
        // Another node may have moved it meanwhile.
        const isSame = sql`val_id = ${valId} and due_at = ${dueAt}`
        if (nextAt === undefined) yield sql`delete from val_purges where ${isSame}`
        else yield sql`update val_purges set due_at = ${nextAt} where ${isSame}`
      }),
  }
}

/** Part of the transaction that deletes a val. */
export function addValPurge({ valId, ownerId }: Omit<ValPurge, "dueAt">): Statement {
  return sql`insert into val_purges (val_id, owner_id, due_at) values (${valId}, ${ownerId}, 0) on conflict do nothing`
}

function* purgeBlobs(
  dialect: Dialect,
  { valId, ownerId }: ValPurge,
  at: number,
  countMax: number,
): Script<boolean> {
  // Before its blobs, as uploads do.
  yield sql`select id from users where id = ${ownerId} ${dialect.forUpdate}`
  const blobs = yield* rows<{ key: string }>`
    select key from val_blobs where val_id = ${valId} limit ${countMax}`
  for (const chunk of inBatches(blobs.map(({ key }) => key))) {
    // Another node may have deleted some of them meanwhile.
    const deleted = yield* rows<{ size: number; objectId: string | null }>`
      delete from val_blobs where val_id = ${valId} and key in (${list(chunk)}) returning size, object_id`
    for (const { objectId: id } of deleted)
      if (id !== null) yield sql`update objects set unused_since = ${at} where id = ${id}`
    const bytes = deleted.reduce((sum, { size }) => sum + size, 0)
    yield changeUsage(ownerId, -bytes, -deleted.length)
  }
  return blobs.length > 0
}
