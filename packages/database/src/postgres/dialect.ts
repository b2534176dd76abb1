import { repeatText, replaceEach } from "@hamlet/kit"
import { postgresDdl } from "../ddl.ts"
import type { Dialect, TableColumns } from "../dialect.ts"
import { raw, type Statement, sql } from "../sql.ts"

/** Much less than requests wait for a lock. */
const briefLockMsMax = 500

const columns = sql`
  select t.relname::text as table_name, a.attname::text as column_name,
    case format_type(a.atttypid, null) when 'integer' then 'integer' when 'bigint' then 'integer' when 'bytea' then 'bytes' else 'text' end as type
  from pg_class t join pg_attribute a on a.attrelid = t.oid
  where t.relnamespace = current_schema()::regnamespace and t.relkind in ('r', 'p') and not t.relispartition and a.attnum > 0 and not a.attisdropped
  order by t.relname, a.attnum`

/**
 * Each column is an array. PostgreSQL takes a third of the time that it takes for the same rows in
 * JSON, of which it makes a hash table for each row.
 */
function tableOf(rows: readonly object[], columns: TableColumns): Statement {
  const names = Object.keys(columns)
  const types = Object.values(columns)
  const arrays = types.map((type, index) => `$${index + 1}::${arrayTypes[type]}`)
  return {
    text: `unnest(${arrays.join(", ")}) as rows_of(${names.join(", ")})`,
    values: names.map((name, index) => toArray(rows, name, types[index] === "text")),
  }
}

/** The array leaves out the nulls at its end: `unnest` adds them to all but the longest column. */
function toArray(rows: readonly object[], name: string, isText: boolean): string {
  let text = ""
  let nulls = 0
  for (const row of rows) {
    const value = (row as Readonly<Record<string, unknown>>)[name]
    if (value === null || value === undefined) {
      nulls += 1
      continue
    }
    if (nulls > 0) text += repeatText("NULL,", nulls, 5 * rows.length)
    nulls = 0
    text += isText ? `${quote(String(value))},` : `${value},`
  }
  return `{${text.slice(0, -1)}}`
}

const arrayTypes: Readonly<Record<TableColumns[string], string>> = {
  id: "uuid[]",
  integer: "integer[]",
  time: "bigint[]",
  text: 'text[] collate "C"',
}

/** A text as an element of an array. */
function quote(text: string): string {
  return `"${replaceEach(text, /["\\]/g, "\\$&", text.length)}"`
}

export const postgresDialect: Dialect = {
  ...postgresDdl,
  name: "PostgreSQL",
  forUpdate: raw("for update"),
  forShare: raw("for share"),
  skipLocked: raw("for update skip locked"),
  now: raw("floor(extract(epoch from statement_timestamp()) * 1000)::bigint"),
  tableOf,
  isAnyId: (column, ids) => sql`${raw(column)} = any(${`{${ids.join(",")}}`}::uuid[])`,
  gather: {
    isAnyBytes: (column, keys) =>
      sql`${raw(column)} = any(${`{${keys.map((key) => `"\\\\x${Buffer.from(key).toString("hex")}"`).join(",")}}`}::bytea[])`,
  },
  lockName: (name) => [sql`select pg_advisory_xact_lock(hashtextextended(${name}::text, 0))`],
  explain: (statement) => sql`explain (format json) ${statement}`,
  trigrams: "pg_trgm",
  // The number is arbitrary and must be ours alone: every program that uses the database shares
  // these locks.
  migrationLock: [raw("select pg_advisory_xact_lock(7243392817)")],
  briefLocks: [raw(`set local lock_timeout = ${briefLockMsMax}`)],
  columns,
  // Negative for a table that was never analysed. A partitioned table has the rows of its parts.
  estimateRows: (table) =>
    raw(`select case when max(reltuples) < 0 then (select count(*) from ${table}) else sum(greatest(reltuples, 0))::bigint end as count
      from pg_class where relkind = 'r' and (oid = '${table}'::regclass
        or oid in (select inhrelid from pg_inherits where inhparent = '${table}'::regclass))`),
  hasPartitions: true,
}
