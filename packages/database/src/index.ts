/**
 * One SQL for SQLite and PostgreSQL. A transaction is a generator of statements; rows arrive as the
 * records that the code names.
 *
 * ```ts
 * import { mkdtempSync, rmSync } from "node:fs"
 * import { tmpdir } from "node:os"
 * import { join } from "node:path"
 * import { firstRow, migrate } from "@hamlet/database"
 * import { openSqlite } from "@hamlet/database/sqlite"
 *
 * const folder = mkdtempSync(join(tmpdir(), "notes-"))
 * const db = openSqlite(join(folder, "notes.db"))
 * const create = "create table notes (key text primary key, is_done integer not null)"
 * await migrate(db, [{ version: 1, name: "notes", statements: () => [create] }])
 *
 * function* addNote(key: string) {
 *   return yield* firstRow<{ key: string; isDone: boolean }>`
 *     insert into notes (key, is_done) values (${key}, 0) on conflict do nothing returning key, is_done`
 * }
 *
 * console.log((await db.write(() => addNote("milk")))?.isDone) // false
 * console.log((await db.write(() => addNote("milk")))?.isDone) // undefined
 * const counted = await db.first<{ noteCount: number }>`select count(*) as note_count from notes`
 * console.log(counted?.noteCount) // 1
 * await db.stop()
 * rmSync(folder, { recursive: true })
 * ```
 */

export { inBatches, list } from "./batch-sizes.ts"
export { createBatchLookup } from "./caches/batch-lookups.ts"
export { createExactCache } from "./caches/exact-cache.ts"
export { readClock } from "./clock.ts"
export {
  type Candidates,
  type Database,
  firstRow,
  type LastStep,
  rows,
  type Script,
  type WriteOptions,
} from "./database.ts"
export { type Ddl, postgresDdl, sqliteDdl } from "./ddl.ts"
export type { Dialect, TableColumns } from "./dialect.ts"
export { ConstraintError, isUnavailable, unavailable } from "./errors.ts"
export {
  findCompleteSince,
  findTooOld,
  type Migration,
  migrate,
  selectIncompatible,
} from "./migrations/migrate.ts"
export { guardSchema, NewerSchema } from "./migrations/schema-guard.ts"
export {
  afterCursor,
  asIs,
  beyond,
  findCursor,
  firstId,
  idOrder,
  type KeyKind,
  type LongTexts,
  limitPart,
  limitTo,
  listedTextBytesMax,
  listOrder,
  newestFirst,
  newestOf,
  readLongTexts,
  readPage,
  toPage,
  within,
} from "./paging.ts"
export { describePostgres } from "./postgres/postgres-url.ts"
export type { RecordOf } from "./records.ts"
export {
  join,
  nothing,
  raw,
  type Sql,
  type SqlValue,
  type Statement,
  type Statements,
  sql,
  withNotice,
} from "./sql.ts"
export { watchDatabase } from "./watched-database.ts"
