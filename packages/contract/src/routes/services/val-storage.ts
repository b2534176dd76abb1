import { z } from "zod"
import { route } from "../../route.ts"
import { valBlobsQuery, valStorageQuery } from "../../schemas/inputs.ts"
import { blob } from "../../schemas/records.ts"
import { batchSqlBody, executeSqlBody, resultSet } from "../../schemas/sql.ts"

const sqlErrors = [
  "val_not_found",
  "not_owner",
  "sql_failed",
  "quota_exceeded",
  "sqlite_unavailable",
  "idempotency_result_lost",
] as const

/**
 * What one val stores. The token of a run reaches that of its own val; any other token names a val
 * of the caller by `val_id`.
 */
export const valStorageRoutes = {
  listValBlobs: route("Blobs", "get /v2/blob", {
    summary:
      "The blobs of a val with a prefix, sorted by key; the header `link` leads to the next page",
    scope: "blob:read",
    query: valBlobsQuery,
    responses: { 200: z.array(blob) },
    errors: ["val_not_found", "not_owner"],
  }),
  getValBlob: route("Blobs", "get /v2/blob/{key}", {
    isRestPath: true,
    summary: "The content of a blob of a val, with its content type",
    scope: "blob:read",
    query: valStorageQuery,
    hasEtag: true,
    hasRange: true,
    responses: { 200: "bytes", 206: "bytes" },
    errors: ["val_not_found", "not_owner", "blob_not_found", "storage_unavailable"],
  }),
  putValBlob: route("Blobs", "post /v2/blob/{key}", {
    isRestPath: true,
    summary: "Store a blob of a val; replaces one with the same key",
    scope: "blob:write",
    query: valStorageQuery,
    isBytesBody: true,
    responses: { 201: z.literal("ok") },
    errors: ["val_not_found", "not_owner", "quota_exceeded", "storage_unavailable"],
  }),
  deleteValBlob: route("Blobs", "delete /v2/blob/{key}", {
    isRestPath: true,
    summary: "Delete a blob of a val",
    scope: "blob:write",
    query: valStorageQuery,
    responses: { 204: null },
    errors: ["val_not_found", "not_owner", "blob_not_found"],
  }),
  executeValSql: route("SQLite", "post /v2/sqlite/execute", {
    summary: "Run a statement in the database of a val",
    scope: "sqlite:read",
    scopeToWrite: "sqlite:write",
    query: valStorageQuery,
    body: executeSqlBody,
    responses: { 200: resultSet },
    errors: sqlErrors,
  }),
  batchValSql: route("SQLite", "post /v2/sqlite/batch", {
    summary: "Run statements in the database of a val, all of them or none",
    scope: "sqlite:read",
    scopeToWrite: "sqlite:write",
    query: valStorageQuery,
    body: batchSqlBody,
    responses: { 200: z.array(resultSet) },
    errors: sqlErrors,
  }),
}
