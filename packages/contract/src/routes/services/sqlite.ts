import { z } from "zod"
import { route } from "../../route.ts"
import { batchSqlBody, executeSqlBody, resultSet } from "../../schemas/sql.ts"

/** The caller's own SQLite database. */
export const sqliteRoutes = {
  executeSql: route("SQLite", "post /v1/sqlite/execute", {
    summary: "Run a statement in the caller's database",
    scope: "sqlite:read",
    scopeToWrite: "sqlite:write",
    body: executeSqlBody,
    responses: { 200: resultSet },
    errors: ["sql_failed", "quota_exceeded", "sqlite_unavailable", "idempotency_result_lost"],
  }),
  batchSql: route("SQLite", "post /v1/sqlite/batch", {
    summary: "Run statements in the caller's database, all of them or none",
    scope: "sqlite:read",
    scopeToWrite: "sqlite:write",
    body: batchSqlBody,
    responses: { 200: z.array(resultSet) },
    errors: ["sql_failed", "quota_exceeded", "sqlite_unavailable", "idempotency_result_lost"],
  }),
}
