// SQLite: how it is opened, a thread that writes to it, and the parts for programs with connections
// of their own.
export { sqliteDialect } from "./dialect.ts"
export { fromSqliteError } from "./errors.ts"
export { openSqlite } from "./open.ts"
export { readRecords } from "./result.ts"
export { serveWrites } from "./serve-writes.ts"
