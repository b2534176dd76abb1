import type { Database } from "../../../src/storage/database/database.ts"
import { raw } from "../../../src/storage/database/sql.ts"

/** The database with a clock that the test sets, in place of that of the database server. */
export function withClock(db: Database, now: () => number): Database {
  const { dialect } = db
  return {
    ...db,
    dialect: {
      ...dialect,
      get now() {
        return raw(String(now()))
      },
    },
  }
}
