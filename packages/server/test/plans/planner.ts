import type { SQL } from "bun"
import type { Database } from "../../src/storage/database/database.ts"
import type { SqlValue, Statement } from "../../src/storage/database/sql.ts"
import { sql } from "../../src/storage/database/sql.ts"
import { createClient, postgresDefaults } from "../../src/storage/postgres/client.ts"
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
  return url === undefined ? Promise.resolve(openSqlitePlanner(db)) : openPostgresPlanner(db, url)
}

function openSqlitePlanner(db: Database): Planner {
  return {
    async findFaults(statements) {
      const faults = distinct(statements).map(async (statement) => {
        const rows = await db.read<SqlitePlanRow>(db.dialect.explain(statement))
        return findSqliteFaults(statement, rows).map((fault) => describe(fault, statement))
      })
      return (await Promise.all(faults)).flat()
    },
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

/**
 * So often PostgreSQL plans anew for the values at hand, before it considers one plan for all
 * values.
 */
const customPlans = 5

async function openPostgresPlanner(db: Database, url: string): Promise<Planner> {
  // With the settings of the server's own connections, which the planner minds.
  const session = createClient({
    url: new URL(url),
    connectionsMax: 1,
    limits: postgresDefaults,
    isReadonly: false,
  })
  await session.unsafe("set statement_timeout = 0")
  await session.unsafe("analyze")
  const unique = await readUniqueIndexes(session)
  return {
    async findFaults(statements) {
      const faults: string[] = []
      for (const statement of distinct(statements)) {
        const fresh = await db.read<PlanRow>(db.dialect.explain(statement))
        const found = [
          ...findPostgresFaults(rootOf(fresh), unique),
          ...findPostgresFaults(rootOf(await explainSettled(session, statement)), unique),
        ]
        faults.push(...new Set(found.map((fault) => describe(fault, statement))))
      }
      return faults
    },
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

/** The plan that is used for a prepared statement once it has been used for a while. */
async function explainSettled(
  session: SQL,
  { text, values }: Statement,
): Promise<readonly PlanRow[]> {
  const execute = `explain (format json) execute asked${values.length === 0 ? "" : `(${values.map(toLiteral).join(", ")})`}`
  await session.unsafe(`prepare asked as ${text}`)
  try {
    for (let time = 0; time < customPlans; time++) await session.unsafe(execute)
    return await session.unsafe<PlanRow[]>(execute)
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
 * The same query with other values may have another plan, but running it twice would show no more.
 */
function distinct(statements: readonly Statement[]): readonly Statement[] {
  return [
    ...new Map(
      statements.map((statement) => [
        JSON.stringify([statement.text, statement.values]),
        statement,
      ]),
    ).values(),
  ]
}

function describe(fault: string, statement: Statement): string {
  return `${fault}: ${statement.text.replaceAll(/\s+/g, " ").trim()}`
}
