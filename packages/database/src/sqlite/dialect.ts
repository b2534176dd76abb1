import { toOwnJson } from "@hamlet/kit"
import { sqliteDdl } from "../ddl.ts"
import type { Dialect } from "../dialect.ts"
import { nothing, raw, sql } from "../sql.ts"

const columns = sql`
  select t.name as table_name, c.name as column_name, case lower(c.type) when 'integer' then 'integer' when 'blob' then 'bytes' else 'text' end as type
  from pragma_table_list t join pragma_table_info(t.name) c
  where t.schema = 'main' and t.type = 'table' and t.name not glob 'sqlite_*'
  order by t.name, c.cid`

export const sqliteDialect: Dialect = {
  ...sqliteDdl,
  name: "SQLite",
  forUpdate: nothing,
  forShare: nothing,
  skipLocked: nothing,
  now: raw("cast(round(unixepoch('subsec') * 1000) as integer)"),
  tableOf: (rows, columns) => sql`
    (select ${raw(
      Object.keys(columns)
        .map((name) => `value ->> '$.${name}' as ${name}`)
        .join(", "),
    )} from json_each(${toOwnJson(rows)}))`,
  isAnyId: (column, ids) => sql`${raw(column)} in (select value from json_each(${toOwnJson(ids)}))`,
  gather: undefined,
  lockName: () => [],
  explain: (statement) => sql`explain query plan ${statement}`,
  trigrams: "fts5",
  // Every write transaction begins immediate, which locks the whole file across processes.
  migrationLock: [],
  briefLocks: [],
  columns,
  // Row ids ascend, and the oldest rows are deleted first.
  estimateRows: (table) =>
    raw(
      `select coalesce((select max(rowid) from ${table}) - (select min(rowid) from ${table}) + 1, 0) as count`,
    ),
  hasPartitions: false,
}
