// PostgreSQL: how it is opened, and the parts for programs with connections of their own.
export { createClient, postgresDefaults } from "./client.ts"
export { postgresDialect } from "./dialect.ts"
export { fromPostgresError } from "./errors.ts"
export { openPostgres } from "./open.ts"
export { parsePostgresUrl } from "./postgres-url.ts"
export { type PostgresResult, toPostgresRecords } from "./result.ts"
