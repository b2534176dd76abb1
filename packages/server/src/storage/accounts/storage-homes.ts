import { type Database, type Statement, sql } from "@hamlet/database"
import type { StorageHome, StorageHomes } from "../../domain/storage-home.ts"

/** The users and vals that may store data. */
export function createStorageHomes(db: Database): StorageHomes {
  return {
    exists: async (home) => (await db.read(findHome(home))).length > 0,
  }
}

function findHome({ ownerId, valId }: StorageHome): Statement {
  const user = sql`select u.id from users u where u.id = ${ownerId} and u.purge_at is null`
  return valId === undefined
    ? user
    : sql`${user} and exists (select 1 from vals v where v.id = ${valId} and v.owner_id = u.id)`
}
