import type { Statement } from "@hamlet/database"

/** A row of `explain query plan`. */
export interface SqlitePlanRow {
  readonly id: number
  readonly parent: number
  readonly detail: string
}

/**
 * Indexes that may be read from their beginning without a condition, because the order they give is
 * the one that is asked for and a limit ends the walk: the newest public vals, and those with
 * the highest rank; the runs that have not ended, to find those whose node is gone; the newest users and the
 * newest entries of the audit log, for whoever administers.
 */
const walkedIndexes: Readonly<Record<string, RegExp>> = {
  vals_public: /privacy = 'public'\s+order by created_at desc, id desc\s+limit \$\d/,
  vals_public_by_rank:
    /privacy = 'public'\s+order by like_count desc, created_at desc, id desc\s+limit \$\d/,
  vals_public_by_runs:
    /privacy = 'public'\s+order by run_count desc, created_at desc, id desc\s+limit \$\d/,
  vals_public_by_trend:
    /privacy = 'public'\s+order by trend desc, created_at desc, id desc\s+limit \$\d/,
  sqlite_autoindex_users_1: /from users order by id desc limit \$\d/,
  audit_entries_by_time: /from audit_entries\s+where true\s+order by at desc, id desc limit \$\d/,
  users_to_purge: /where purge_at is not null limit \$\d/,
  // Each node reads all accounts that are suspended or have quotas, of which there are few, when
  // one has changed.
  users_special: /where suspended_at is not null or quotas is not null$/,
  runs_open: /r\.status in \('queued', 'running'\) [\s\S]*order by r\.node_id, r\.id limit \$\d/,
}

/**
 * A queue of vals whose runs are to be deleted: one is taken from it at a time, and it is empty
 * most of the time. Nodes are few, and of open invitations there may be no more than the contract
 * allows. Rows from JSON are those that the statement was given.
 */
const smallTables = new Set(["run_purges", "nodes", "invitations", "json_each"])

/**
 * What is wrong with a plan of SQLite's: whole tables read, and sorts of more than some part that a
 * limit has cut.
 */
export function findSqliteFaults(
  statement: Statement,
  rows: readonly SqlitePlanRow[],
): readonly string[] {
  return rows.flatMap((row) => {
    const isFault = row.detail.startsWith("SCAN ")
      ? !isHarmlessScan(statement, rows, row)
      : !isHarmlessStep(statement, rows, row)
    return isFault ? [row.detail] : []
  })
}

function isHarmlessScan(
  statement: Statement,
  rows: readonly SqlitePlanRow[],
  row: SqlitePlanRow,
): boolean {
  const [, name = "", rest = ""] = /^SCAN (\S+)(?: (.*))?$/.exec(row.detail) ?? []
  if (
    name === "CONSTANT" ||
    // The rows of an insert.
    rest === "CONSTANT ROWS" ||
    /^\d+-ROW$/.test(name) ||
    smallTables.has(name) ||
    isSubquery(rows, name)
  )
    return true
  // Full-text search with a MATCH: the M in the plan that FTS5 gives itself.
  if (/^VIRTUAL TABLE INDEX \d+:.*M/.test(rest)) return true
  const index = /^USING (?:COVERING )?INDEX (\w+)$/.exec(rest)?.[1] ?? ""
  // The limit that ends the walk is that of the select that has the condition of the index.
  const isCutWalk = walkedIndexes[index]?.test(statement.text) ?? false
  return isCutWalk && !siblings(rows, row).some(isSort)
}

function isHarmlessStep(
  statement: Statement,
  rows: readonly SqlitePlanRow[],
  row: SqlitePlanRow,
): boolean {
  if (row.detail.includes("AUTOMATIC")) return false
  if (!isSort(row)) return true
  // The outermost loop decides how much there is to sort; the ones inside look up single rows.
  const [outer, ...inner] = siblings(rows, row).filter(({ detail }) =>
    /^(SCAN|SEARCH) /.test(detail),
  )
  const name = /^SCAN (\S+)$/.exec(outer?.detail ?? "")?.[1] ?? ""
  return (
    isSubquery(rows, name) &&
    isTruncated(statement, name) &&
    inner.every(({ detail }) => detail.startsWith("SEARCH "))
  )
}

function isSort({ detail }: SqlitePlanRow): boolean {
  return detail.startsWith("USE TEMP B-TREE")
}

function siblings(
  rows: readonly SqlitePlanRow[],
  { parent, id }: SqlitePlanRow,
): readonly SqlitePlanRow[] {
  return rows.filter((other) => other.parent === parent && other.id !== id)
}

function isSubquery(rows: readonly SqlitePlanRow[], name: string): boolean {
  return rows.some(
    ({ detail }) => detail === `CO-ROUTINE ${name}` || detail === `MATERIALIZE ${name}`,
  )
}

/**
 * Whether the subquery of that name ends with a limit. `parts` is a union of subqueries called
 * `part`, and around the one that is called `hit` there is another of the same name, which looks up
 * a row for each and compares its text.
 */
function isTruncated({ text }: Statement, name: string): boolean {
  const subquery = name === "parts" ? "part" : name
  const ends = [...text.matchAll(new RegExp(`(\\S+\\s+\\S+)\\)\\s+${subquery}\\b`, "g"))].flatMap(
    ([, end]) => end ?? [],
  )
  return (
    ends.some((end) => limitPattern.test(end)) &&
    ends.every((end) => limitPattern.test(end) || /^like \$\d+$/.test(end))
  )
}

const limitPattern = /^(?:limit|offset)\s+\$\d+$/
