import { type Database, raw } from "@hamlet/database"

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
