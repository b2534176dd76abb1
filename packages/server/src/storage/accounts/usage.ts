import type { UsageStore } from "../../domain/limits/usage.ts"
import type { Database } from "../database/database.ts"
import { sql } from "../database/sql.ts"

interface UsageRow {
  readonly blob_bytes: number | string
  readonly blob_count: number
}

/** The storage that users use, from the database. */
export function createUsageStore(db: Database): UsageStore {
  return {
    async findBlobs(userId) {
      const [row] = await db.read<UsageRow>(
        sql`select blob_bytes, blob_count from users where id = ${userId}`,
      )
      return { count: row?.blob_count ?? 0, bytes: Number(row?.blob_bytes ?? 0) }
    },
  }
}
