import type { PathChange, VersionChange } from "../../domain/files/file-history.ts"
import type { Page, PageRequest } from "../../domain/paging.ts"
import type { Database } from "../database/database.ts"
import { afterCursor, limitTo, toPage } from "../database/pagination.ts"
import { raw, type Statement, sql } from "../database/sql.ts"
import { selectAllPaths } from "./branch-rows.ts"

interface VersionRow {
  readonly version: number
  readonly created_at: number | string
  readonly note: string | null
}

interface ChangeRow {
  readonly since: number
  readonly path: string
  readonly file_id: string
  readonly type: string | null
  readonly before: string | null
}

const limits = {
  /** A version may change thousands of paths. */
  changesPerVersionMax: 100,
}

/** The versions of a branch, newest first, with what each has changed. */
export async function listChanges(
  db: Database,
  branchId: string,
  path: string | undefined,
  page: PageRequest,
): Promise<Page<VersionChange>> {
  const columns = raw("n.version, n.created_at, n.note")
  const versions = await db.read<VersionRow>(
    path === undefined
      ? sql`select ${columns} from versions n where n.branch_id = ${branchId}
          ${afterCursor(page, "n.version", ["integer"])} order by n.version desc ${limitTo(page)}`
      : sql`select ${columns} from states s join versions n on n.branch_id = s.branch_id and n.version = s.since
          where s.branch_id = ${branchId} and s.path = ${path}
          ${afterCursor(page, "s.since", ["integer"])} order by s.since desc ${limitTo(page)}`,
  )
  const newest = versions[0]?.version ?? 0
  const oldest = versions.at(-1)?.version ?? 0
  const paths =
    path === undefined
      ? selectAllPaths(branchId)
      : sql`select cast(${path} as ${raw("text")}) as path`
  const changed =
    versions.length === 0 ? [] : await readChanges(db, branchId, paths, oldest, newest)
  const toChange = ({ version, created_at, note }: VersionRow): VersionChange => {
    const some = changed.filter(({ since }) => since === version)
    return {
      ...{ version, createdAt: Number(created_at), note },
      changes: toPathChanges(some.slice(0, limits.changesPerVersionMax)),
      hasMoreChanges: some.length > limits.changesPerVersionMax,
    }
  }
  return toPage(versions, page, toChange, (row) => [row.version])
}

/** Searches each path of the branch for states of these versions: the key begins with the path. */
function readChanges(
  db: Database,
  branchId: string,
  paths: Statement,
  oldest: number,
  newest: number,
): Promise<readonly ChangeRow[]> {
  return db.read<ChangeRow>(sql`
    select c.since, c.path, c.file_id, c.type,
      (select b.type from states b where b.branch_id = ${branchId} and b.path = c.path and b.since < c.since
        order by b.since desc limit 1) as before
    from (
      select s.since, s.path, s.file_id, s.type, row_number() over (partition by s.since order by s.path) as number
      from (${paths}) p cross join states s
      where s.branch_id = ${branchId} and s.path = p.path and s.since >= ${oldest} and s.since <= ${newest}
        and (s.type is null or s.type <> 'directory')) c
    where c.number <= ${limits.changesPerVersionMax + 1} order by c.since, c.path`)
}

/** A file that ends at one path and begins at another in the same version was moved. */
function toPathChanges(rows: readonly ChangeRow[]): readonly PathChange[] {
  const ended = new Map(rows.flatMap((row) => (row.type === null ? [[row.file_id, row.path]] : [])))
  const moved = new Set(rows.flatMap((row) => (row.type === null ? [] : [row.file_id])))
  return rows.flatMap(({ path, file_id, type, before }): PathChange[] => {
    if (type === null) {
      const isListed = !moved.has(file_id) && before !== null && before !== "directory"
      return isListed ? [{ path, kind: "deleted", oldPath: null }] : []
    }
    const oldPath = ended.get(file_id) ?? null
    if (oldPath !== null) return [{ path, kind: "moved", oldPath }]
    const isNew = before === null || before === "directory"
    return [{ path, kind: isNew ? "added" : "changed", oldPath }]
  })
}
