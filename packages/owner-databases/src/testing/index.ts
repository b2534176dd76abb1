export { openDatabases } from "./database-testing.ts"
export { hasLibsql, type LibsqlProcess, startLibsql } from "./libsql-process.ts"
