import { migrate } from "@hamlet/database"
import { createTestDatabases } from "@hamlet/database/testing"
import { migrations } from "../../src/storage/migrations/index.ts"

export { type OpenDatabase, openAgain, type TestDatabase } from "@hamlet/database/testing"

/** The databases that every storage and API suite runs on, with the current schema. */
export const { databases, describeEachDatabase, describePostgres, describeSqlite, migratedFile } =
  createTestDatabases((db) => migrate(db, migrations))
