// The idempotent requests that were done in a database. Each is recorded in the transaction of its
// statements, so that both are on the disk or neither is. The response is stored in the main database
// after that; this record decides only if the server has crashed in between.
import type { SQLInputValue } from "node:sqlite"
import type { IdempotentRequest } from "@hamlet/kit"

/** The name of the table, in the database of the user. Statements of users cannot use it. */
export const doneTable = "_hamlet_requests"

const limits = {
  /** Requests that are recorded in one database. */
  rowsMax: 10_000,
  /** The last of them, whose results are kept. */
  resultsMax: 250,
  /** The JSON of a result that is kept. */
  resultBytesMax: 4_096,
  /** Old records that are removed with each new one. */
  removedMax: 20,
}

/**
 * The bytes that the table takes at most, with its index. A database may become larger than its limit
 * by as much.
 */
export const doneBytesMax = 4 * 1024 * 1024

/** A statement of our own, and the values of its parameters 1, 2, …. */
export interface OwnStatement {
  readonly sql: string
  readonly args: readonly SQLInputValue[]
}

/** `theirs` is a table or a view that a user has created before the name was reserved. */
export type DoneTableState = "absent" | "ours" | "theirs"

/** Its columns, for `toDoneTableState`. */
export const describeDoneTable = `select name, type, pk from pragma_table_info('${doneTable}')`

/** Whether the table is there, by its columns. */
export function toDoneTableState(columns: readonly object[]): DoneTableState {
  if (columns.length === 0) return "absent"
  const described = columns.map((column) => Object.values(column).join(" ")).join()
  return described === "hash TEXT 1,id INTEGER 0,at INTEGER 0,result TEXT 0" ? "ours" : "theirs"
}

/** The result of a request; no row if it was not done. */
export function findDone({ hash, discardBefore }: IdempotentRequest): OwnStatement {
  return {
    sql: `select result from ${doneTable} where hash = ? and at > ?`,
    args: [hash, BigInt(discardBefore)],
  }
}

/**
 * Records a request with the JSON of its result, which is left out if it is long. Fails if the
 * request is recorded already.
 */
export function recordDone(
  { hash, at, discardBefore }: IdempotentRequest,
  result: Uint8Array,
): readonly OwnStatement[] {
  const kept = result.length > limits.resultBytesMax ? null : Buffer.from(result).toString()
  return [
    { sql: createDoneTable, args: [] },
    { sql: removeOld, args: [hash, BigInt(discardBefore)] },
    { sql: addRequest, args: [hash, BigInt(at), kept] },
    { sql: removeOldResult, args: [] },
  ]
}

/**
 * The ids are consecutive, and find the old rows without counting them. Without row ids, because the
 * next statement of a user may ask for the last one.
 */
const createDoneTable = `create table if not exists ${doneTable} (
  hash TEXT primary key, id INTEGER not null unique, at INTEGER not null, result TEXT) without rowid`

const lastId = `(select max(id) from ${doneTable})`

const removeOld = `delete from ${doneTable}
  where (hash = ?1 or id in (select id from ${doneTable} order by id limit ${limits.removedMax}))
    and (at <= ?2 or id <= ${lastId} - ${limits.rowsMax - 1})`

const addRequest = `insert into ${doneTable} (hash, id, at, result)
  select ?, coalesce(max(id), 0) + 1, ?, ? from ${doneTable}`

const removeOldResult = `update ${doneTable} set result = null where id = ${lastId} - ${limits.resultsMax}`
