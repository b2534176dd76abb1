import { type Database, type SqlValue, type Statement, sql } from "@hamlet/database"
import { createClient, postgresDefaults } from "@hamlet/database/postgres"
import type { SQL } from "bun"
import type { TestDatabase } from "../support/databases.ts"
import { findPostgresFaults, type PostgresPlan, type UniqueIndexes } from "./postgres-plan.ts"
import { findSqliteFaults, type SqlitePlanRow } from "./sqlite-plan.ts"

/** Asks a database how it would do things. */
export interface Planner {
  /** What is wrong with the plans of the statements, with the statement that it is wrong with. */
  findFaults(statements: readonly Statement[]): Promise<readonly string[]>
  /**
   * Foreign keys whose columns no index begins with: deleting what they refer to would read the
   * whole table.
   */
  findBareReferences(): Promise<readonly string[]>
  stop(): Promise<void>
}

/** A planner for the database, which has been filled. */
export function openPlanner({ db, url }: TestDatabase): Promise<Planner> {
  return url === undefined ? Promise.resolve(openSqlitePlanner(db)) : openPostgresPlanner(url)
}

function openSqlitePlanner(db: Database): Planner {
  return {
    findFaults: findOnce(async (statement) => {
      const rows = await db.read<SqlitePlanRow>(db.dialect.explain(statement))
      return findSqliteFaults(statement, rows)
    }),
    async findBareReferences() {
      const references = await db.read<{ name: string; columns: string }>(sql`
        select t.name, group_concat(f."from" order by f.seq) as columns from pragma_table_list t join pragma_foreign_key_list(t.name) f
        where t.schema = 'main' group by t.name, f.id`)
      const indexes = await db.read<{ name: string; columns: string }>(sql`
        select t.name, group_concat(c.name order by c.seqno) as columns
        from pragma_table_list t join pragma_index_list(t.name) i join pragma_index_info(i.name) c
        where t.schema = 'main' and i.partial = 0 group by t.name, i.name`)
      const isIndexed = (reference: { name: string; columns: string }) =>
        indexes.some(
          (index) =>
            index.name === reference.name &&
            `${index.columns},`.startsWith(`${reference.columns},`),
        )
      return references
        .filter((reference) => !isIndexed(reference))
        .map(({ name, columns }) => `${name} (${columns})`)
    },
    stop: () => Promise.resolve(),
  }
}

async function openPostgresPlanner(url: string): Promise<Planner> {
  // With the settings of the server's own connections, which the planner minds.
  const session = createClient({
    url: new URL(url),
    connectionsMax: 1,
    limits: postgresDefaults,
    isReadonly: false,
  })
  await session.unsafe("set statement_timeout = 0")
  // Tables that have partitions are left out, as autovacuum does.
  const [analysed] = await session.unsafe<{ tables: string }[]>(`
    select string_agg(format('%I', relname), ', ') as tables from pg_class
    where relkind = 'r' and relnamespace = current_schema()::regnamespace`)
  await session.unsafe(`analyze ${analysed?.tables}`)
  const unique = await readUniqueIndexes(session)
  /** By the text of the statement. */
  const plans = new Map<string, PostgresPlan>()
  return {
    findFaults: findOnce(async (statement) => {
      const plan = plans.get(statement.text) ?? (await explain(session, statement))
      plans.set(statement.text, plan)
      return findPostgresFaults(plan, unique)
    }),
    async findBareReferences() {
      const bare = await session.unsafe<{ reference: string }[]>(`
        select conrelid::regclass || ' ' || conkey::text as reference from pg_constraint k
        where contype = 'f' and not exists (select from pg_index i
          where i.indrelid = k.conrelid and i.indpred is null and (i.indkey::int2[])[0:array_length(k.conkey, 1) - 1] = k.conkey)`)
      return bare.map((row) => row.reference)
    },
    stop: () => session.close(),
  }
}

interface PlanRow {
  readonly "QUERY PLAN": string | readonly [{ readonly Plan: PostgresPlan }]
}

function rootOf([row]: readonly PlanRow[]): PostgresPlan {
  const plan = row?.["QUERY PLAN"]
  const [root] =
    typeof plan === "string" ? (JSON.parse(plan) as [{ Plan: PostgresPlan }]) : (plan ?? [])
  if (!root) throw new Error("the database gave no plan")
  return root.Plan
}

/** The plan for all values, the only one that our connections use. */
async function explain(session: SQL, { text, values }: Statement): Promise<PostgresPlan> {
  const execute = `explain (format json) execute asked${values.length === 0 ? "" : `(${values.map(toLiteral).join(", ")})`}`
  await session.unsafe(`prepare asked as ${text}`)
  try {
    return rootOf(await session.unsafe<PlanRow[]>(execute))
  } finally {
    await session.unsafe("deallocate asked")
  }
}

function toLiteral(value: SqlValue): string {
  if (value === null) return "null"
  if (typeof value === "number") return String(value)
  if (typeof value === "string") return `'${value.replaceAll("'", "''")}'`
  return `'\\x${Buffer.from(value).toString("hex")}'`
}

async function readUniqueIndexes(session: SQL): Promise<UniqueIndexes> {
  const rows = await session.unsafe<{ name: string; column: string }[]>(`
    select x.relname as name, a.attname as column from pg_index i
    join pg_class x on x.oid = i.indexrelid join pg_attribute a on a.attrelid = i.indexrelid
    where i.indisunique and x.relnamespace = current_schema()::regnamespace`)
  return new Map(
    Object.entries(Object.groupBy(rows, (row) => row.name)).map(([name, found = []]) => [
      name,
      found.map((row) => row.column),
    ]),
  )
}

/**
 * Looks at each statement once, however often it comes. The same one with other values may have
 * another plan.
 */
function findOnce(
  find: (statement: Statement) => Promise<readonly string[]>,
): Planner["findFaults"] {
  const known = new Map<string, readonly string[]>()
  return async (statements) => {
    const faults = new Set<string>()
    for (const statement of statements) {
      const key = JSON.stringify([statement.text, statement.values])
      const found = known.get(key) ?? (await find(statement))
      known.set(key, found)
      for (const fault of found) faults.add(describe(fault, statement))
    }
    return [...faults]
  }
}

function describe(fault: string, statement: Statement): string {
  return `${fault}: ${statement.text.replaceAll(/\s+/g, " ").trim()}`
}
