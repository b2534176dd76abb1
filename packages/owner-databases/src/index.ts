/**
 * The SQLite databases of users: each is alone, limited, and out of reach of statements of others.
 *
 * ```ts
 * import { mkdtempSync, rmSync } from "node:fs"
 * import { tmpdir } from "node:os"
 * import { join } from "node:path"
 * import { DatabasePool } from "@hamlet/owner-databases"
 *
 * const folder = mkdtempSync(join(tmpdir(), "databases-"))
 * const databases = new DatabasePool({
 *   folder,
 *   bytesMax: 1_000_000,
 *   msMax: 5_000,
 *   isShared: false,
 *   homes: { exists: async () => true },
 *   isolation: "auto",
 * })
 * const ownerId = Bun.randomUUIDv7()
 * const run = (sql: string, args: readonly string[] = []) =>
 *   databases.run({ ownerId, mode: "single", statements: [{ sql, args }], canWrite: true })
 * await run("create table notes (text)")
 * await run("insert into notes values (?)", ["hello"])
 * const outcome = await run("select text from notes")
 * if (outcome.kind !== "done") throw new Error(outcome.kind)
 * console.log(new TextDecoder().decode(outcome.json).includes("hello")) // true
 * await databases.stop()
 * rmSync(folder, { recursive: true })
 * ```
 */

export { DatabasePool } from "./database-pool.ts"
export {
  createLibsqlRegistry,
  registryNamespace,
  toInteger,
  toNamespace,
} from "./libsql-protocol/libsql-registry.ts"
export {
  createLibsqlServer,
  type LibsqlOptions,
  type LibsqlServer,
  LibsqlUnavailable,
  openLibsqlStream,
} from "./libsql-protocol/libsql-server.ts"
export type {
  BatchMode,
  OwnerDatabases,
  SentSqlRequest,
  SqlOutcome,
  SqlStatement,
} from "./owner-databases.ts"
