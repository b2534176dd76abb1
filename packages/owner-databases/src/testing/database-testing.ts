// What the tests of the databases share.
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { LibsqlLimits } from "../database-limits.ts"
import { DatabasePool, type DatabasePoolOptions } from "../database-pool.ts"
import type {
  BatchMode,
  DatabaseHomes,
  OwnerDatabases,
  SqlOutcome,
  SqlRequest,
  SqlStatement,
} from "../owner-databases.ts"

type Args = SqlStatement["args"]

/** How long an idempotent request is recorded. */
export const onceMs = 60 * 60 * 1000

/** The result of a statement. */
export interface TestResult {
  readonly columns: readonly string[]
  readonly columnTypes: readonly string[]
  readonly rows: readonly (readonly (null | number | string)[])[]
  readonly rowsAffected: number
  readonly lastInsertRowid: number | string | null
}

/** A user with a database. */
export interface TestOwner {
  readonly id: string
  readonly valId: string | undefined
  run(request: Omit<SqlRequest, "ownerId" | "valId">): Promise<SqlOutcome>
  /** The result of a statement, or another outcome. */
  execute(
    sql: string,
    args?: Args,
    canWrite?: boolean,
  ): Promise<TestResult | Exclude<SqlOutcome, { kind: "done" }>>
  /** The rows of a statement. Throws when it fails. */
  rows(sql: string, args?: Args): Promise<TestResult["rows"]>
  batch(
    statements: readonly (string | SqlStatement)[],
    mode?: BatchMode,
  ): Promise<TestResult[] | Exclude<SqlOutcome, { kind: "done" }>>
}

/** Databases on this machine or on a libSQL server. */
export interface TestHome extends AsyncDisposable {
  readonly pool: OwnerDatabases
  /** A user, or a val of a user. */
  owner(id?: string, valId?: string): TestOwner
}

/** What tests set on both homes. */
export interface TestHomeOptions {
  readonly bytesMax?: number
  readonly msMax?: number
  readonly limits?: Partial<LibsqlLimits>
  readonly homes?: DatabaseHomes
}

/** All users and vals exist. */
export const allHomes: DatabaseHomes = { exists: () => Promise.resolve(true) }

/** Opens databases of the home that the suite is about. */
export type OpenHome = (options?: TestHomeOptions) => Promise<TestHome>

/** Databases in a temporary folder. */
export interface TestDatabases extends TestHome {
  readonly pool: DatabasePool
  readonly folder: string
}

/** Opens databases, with small limits by default. */
export async function openDatabases(
  options: Partial<DatabasePoolOptions> = {},
): Promise<TestDatabases> {
  const parent = await mkdtemp(join(tmpdir(), "hamlet-databases-"))
  const folder = join(parent, "sqlite")
  const pool = new DatabasePool({
    folder,
    bytesMax: 16 * 1024 * 1024,
    msMax: 20_000,
    isShared: false,
    homes: allHomes,
    isolation: "auto",
    ...options,
  })
  return {
    pool,
    folder,
    owner: (id = Bun.randomUUIDv7(), valId) => createOwner(pool, id, valId),
    async [Symbol.asyncDispose]() {
      await pool.stop()
      await rm(parent, { recursive: true })
    },
  }
}

/** A user, or a val of a user. */
export function createOwner(
  pool: OwnerDatabases,
  id: string,
  valId: string | undefined,
): TestOwner {
  const home = valId === undefined ? { ownerId: id } : { ownerId: id, valId }
  const run: TestOwner["run"] = (request) => pool.run({ ...home, ...request })
  const execute: TestOwner["execute"] = async (sql, args = [], canWrite = true) =>
    parse<TestResult>(await run({ mode: "single", statements: [{ sql, args }], canWrite }))
  return {
    id,
    valId,
    run,
    execute,
    async rows(sql, args) {
      const result = await execute(sql, args)
      if ("rows" in result) return result.rows
      throw new Error(`${sql}: ${JSON.stringify(result)}`)
    },
    batch: async (statements, mode = "deferred") =>
      parse<TestResult[]>(
        await run({ mode, statements: statements.map(toStatement), canWrite: true }),
      ),
  }
}

/** Sends a statement, or a batch, as an idempotent request. */
export async function sendOnce(
  owner: TestOwner,
  hash: string,
  sql: string | readonly string[],
  { mode = "single", canWrite = true, ...more }: Partial<SqlRequest> = {},
): Promise<TestResult | TestResult[] | Exclude<SqlOutcome, { kind: "done" }>> {
  const at = Date.now()
  const statements = [sql].flat().map(toStatement)
  const idempotent = { hash, at, discardBefore: at - onceMs }
  return parse(await owner.run({ mode, canWrite, statements, idempotent, ...more }))
}

/** What a user may have created before the name was reserved. */
export const theirTable = [
  "create table _hamlet_requests (a)",
  "insert into _hamlet_requests values (1)",
]

/** What `useTheirTable` returns when the table is left alone. */
export const theirRows = [[[2]], [[2]], [], [[2]], [[2]], [[1], [2], [2], [2]]]

/** Uses a database in which the user has that table, and finally gives it another name. */
export async function useTheirTable(owner: TestOwner): Promise<unknown[]> {
  const insert = "insert into _hamlet_requests values (2) returning a"
  const results = []
  for (const hash of ["once", "once"]) results.push(await sendOnce(owner, hash, insert))
  results.push(await sendOnce(owner, "rename", "alter table _hamlet_requests rename to mine"))
  const other = insert.replace("_hamlet_requests", "mine")
  for (const hash of ["other", "other"]) results.push(await sendOnce(owner, hash, other))
  results.push(await owner.execute("select a from mine"))
  return results.map((result) => ("rows" in result ? result.rows : result))
}

function toStatement(statement: string | SqlStatement): SqlStatement {
  return typeof statement === "string" ? { sql: statement, args: [] } : statement
}

function parse<Result>(outcome: SqlOutcome): Result | Exclude<SqlOutcome, { kind: "done" }> {
  return outcome.kind === "done"
    ? (JSON.parse(Buffer.from(outcome.json).toString()) as Result)
    : outcome
}
