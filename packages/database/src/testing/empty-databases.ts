import { createTestDatabases } from "./test-databases.ts"

/** Databases without tables, for the suites of this package. */
export const { databases, describeEachDatabase, describePostgres } = createTestDatabases()
