import {
  afterCursor,
  type Database,
  firstRow,
  limitTo,
  nothing,
  raw,
  type Script,
  sql,
  toPage,
} from "@hamlet/database"
import type { Page, PageRequest } from "@hamlet/database/page"
import type { PathChange, VersionChange } from "../../domain/files/file-history.ts"
import { selectAllPaths } from "./branch-rows.ts"

interface VersionRow {
  readonly version: number
  readonly createdAt: number
  readonly note: string | null
  readonly author: VersionChange["author"]
}

interface ChangeRow {
  readonly since: number
  readonly path: string
  readonly fileId: string
  readonly type: string | null
  readonly before: string | null
}

const limits = {
  /** A version may change thousands of paths. */
  changesPerVersionMax: 100,
  /** Changes of a page. */
  changesMax: 10_000,
}

/** The person who saved the version `n`; null where that is not known, or the account is gone. */
export const authorColumns = raw("a.id as author__id, a.username as author__username")
export const withAuthor = raw("left join users a on a.id = n.author_id")

/** The versions of a branch, newest first, with what each has changed. */
export async function listChanges(
  db: Database,
  branchId: string,
  path: string | undefined,
  page: PageRequest,
): Promise<Page<VersionChange>> {
  const columns = sql`n.version, n.created_at, n.note, ${authorColumns}`
  const versions = await db.read<VersionRow>(
    path === undefined
      ? sql`select ${columns} from versions n ${withAuthor} where n.branch_id = ${branchId}
          ${afterCursor(page, "n.version", ["integer"])} order by n.version desc ${limitTo(page)}`
      : sql`select ${columns} from states s join versions n on n.branch_id = s.branch_id and n.version = s.since ${withAuthor}
          where s.branch_id = ${branchId} and s.path = ${path}
          ${afterCursor(page, "s.since", ["integer"])} order by s.since desc ${limitTo(page)}`,
  )
  const newest = versions[0]?.version ?? 0
  const oldest = versions.at(-1)?.version ?? 0
  const changed = versions.length === 0 ? [] : await readChanges(db, branchId, path, oldest, newest)
  const isCut = changed.length > limits.changesMax
  const byVersion = Map.groupBy(changed, ({ since }) => since)
  const toChange = ({ version, createdAt, note, author }: VersionRow): VersionChange => {
    const some = [...(byVersion.get(version) ?? [])].sort(byPath)
    return {
      version,
      createdAt,
      note,
      author,
      changes: toPathChanges(some.slice(0, limits.changesPerVersionMax)),
      hasMoreChanges: isCut || some.length > limits.changesPerVersionMax,
    }
  }
  return toPage(versions, page, toChange, (row) => [row.version])
}

/** Changes the note of a version. */
export function* writeNote(
  valId: string,
  branchId: string,
  version: number,
  note: string | null,
): Script<"done" | "no_branch" | "no_version"> {
  const branch = yield* firstRow`
    select 1 from branches where id = ${branchId} and val_id = ${valId}`
  if (!branch) return "no_branch"
  const changed = yield* firstRow`
    update versions set note = ${note} where branch_id = ${branchId} and version = ${version} returning version`
  return changed ? "done" : "no_version"
}

/** Searches each path of the branch for states of these versions: the key begins with the path. */
function readChanges(
  db: Database,
  branchId: string,
  path: string | undefined,
  oldest: number,
  newest: number,
): Promise<readonly ChangeRow[]> {
  const paths = path === undefined ? sql`(${selectAllPaths(branchId)}) p cross join` : nothing
  const ofPath = path === undefined ? sql`p.path` : sql`${path}`
  return db.read<ChangeRow>`
    select s.since, s.path, s.file_id, s.type,
      (select b.type from states b where b.branch_id = s.branch_id and b.path = s.path and b.since < s.since
        order by b.since desc limit 1) as before
    from ${paths} states s
    where s.branch_id = ${branchId} and s.path = ${ofPath} and s.since >= ${oldest} and s.since <= ${newest}
      and (s.type is null or s.type <> 'directory')
    limit ${limits.changesMax + 1}`
}

function byPath(left: ChangeRow, right: ChangeRow): number {
  return left.path < right.path ? -1 : 1
}

/** A file that ends at one path and begins at another in the same version was moved. */
function toPathChanges(rows: readonly ChangeRow[]): readonly PathChange[] {
  const ended = new Map(rows.flatMap((row) => (row.type === null ? [[row.fileId, row.path]] : [])))
  const moved = new Set(rows.flatMap((row) => (row.type === null ? [] : [row.fileId])))
  return rows.flatMap(({ path, fileId, type, before }): PathChange[] => {
    if (type === null) {
      const isListed = !moved.has(fileId) && before !== null && before !== "directory"
      return isListed ? [{ path, kind: "deleted", oldPath: null }] : []
    }
    const oldPath = ended.get(fileId) ?? null
    if (oldPath !== null) return [{ path, kind: "moved", oldPath }]
    const isNew = before === null || before === "directory"
    return [{ path, kind: isNew ? "added" : "changed", oldPath }]
  })
}
