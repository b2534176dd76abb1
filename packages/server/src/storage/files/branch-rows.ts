import { readmePath } from "@hamlet/contract/entry-file"
import { raw, rows, type Statement, type Statements, sql } from "@hamlet/database"
import type { FileType, PathState } from "../../domain/files/tree.ts"

/** The type of the entry file of the branch `b`, as vals have it. */
export const entryType = raw(
  "case when b.entry_type is null or b.entry_type = 'file' then 'script' else b.entry_type end",
)

/** Where a file of a branch is, and since which version it is as it is. */
export interface FileState {
  readonly path: string
  readonly since: number
  readonly fileId: string
}

/**
 * Whether a row of `states` is this one. Joined with `or`, all of them name the branch: SQLite looks at
 * each row of the branch otherwise, instead of searching its index for each state.
 */
export function isState(branchId: string, { path, since }: Pick<FileState, "path" | "since">) {
  return sql`(branch_id = ${branchId} and path = ${path} and since = ${since})`
}

/** The main branch of a val, with the files that the val's code and readme are. */
export interface MainBranch {
  /** The highest version number it has ever had. */
  readonly versionLast: number
  /** How many files its current version has. */
  readonly fileCount: number
  readonly entry: (FileState & { readonly type: FileType }) | undefined
  readonly readme: FileState | undefined
  /** When the later of the two was saved. */
  readonly savedAt: number
}

/** The columns of a MainBranch. */
export interface MainRow {
  readonly versionLast: number
  readonly fileCount: number
  readonly entryPath: string | null
  readonly entrySince: number | null
  readonly entryFileId: string | null
  readonly entryFileType: FileType | null
  readonly readmeSince: number | null
  readonly readmeFileId: string | null
  readonly entrySavedAt: number | null
  readonly readmeSavedAt: number | null
}

/** The columns of a MainRow that are not of a Val, with the joins of `withCurrentVersion`. */
export const mainColumns = raw(
  `b.version_last, n.entry_path, n.entry_since, c.file_id as entry_file_id, c.type as entry_file_type, n.readme_since, d.file_id as readme_file_id,
  c.created_at as entry_saved_at, d.created_at as readme_saved_at`,
)

/** Converts a row to the main branch. */
export function toMainBranch(row: MainRow): MainBranch {
  const { entryPath, entrySince, entryFileId, entryFileType } = row
  const { readmeSince, readmeFileId } = row
  const hasEntry =
    entryPath !== null &&
    entryPath !== readmePath &&
    entrySince !== null &&
    entryFileId !== null &&
    entryFileType !== null
  return {
    versionLast: row.versionLast,
    fileCount: row.fileCount,
    entry: hasEntry
      ? { path: entryPath, since: entrySince, fileId: entryFileId, type: entryFileType }
      : undefined,
    readme:
      readmeSince !== null && readmeFileId !== null
        ? { path: readmePath, since: readmeSince, fileId: readmeFileId }
        : undefined,
    savedAt: Math.max(row.entrySavedAt ?? 0, row.readmeSavedAt ?? 0),
  }
}

/**
 * Selects `path` and the state of the files of a branch in a version, also of those that were deleted.
 * The state is null for a path that begins later.
 */
export function selectStates(
  branchId: string,
  version: number,
  state: keyof typeof stateColumns = "since",
): Statement {
  const column = raw(stateColumns[state])
  return sql`
    select p.path, (select ${column} from states s where s.branch_id = ${branchId} and s.path = p.path and s.since <= ${version}
      order by s.since desc limit 1) as ${raw(state)}
    from (${selectAllPaths(branchId)}) p`
}

/**
 * The columns of a state without its text, as one: a join would need a second search for each path,
 * and a database may choose a slow order for it. Both know the length of a text without reading it.
 */
const describedState = `s.since || ' ' || s.file_id || ' ' || coalesce(s.type, '-') || ' ' || s.created_at
  || ' ' || coalesce(octet_length(s.content), 0)`

const stateColumns = { since: "s.since", described: describedState, content: "s.content" }

/** Goes from path to path in the index: a branch may have far more states than paths. */
export function selectAllPaths(branchId: string): Statement {
  return sql`(with recursive paths (path) as (
      select * from (select path from states where branch_id = ${branchId} order by path limit 1) first
      union all select (select s.path from states s where s.branch_id = ${branchId} and s.path > paths.path order by s.path limit 1)
      from paths where paths.path is not null) select path from paths where path is not null)`
}

/** A row of `selectPaths`. */
export interface PathRow {
  readonly path: string
  readonly described: string | null
}

/** Selects the paths of a branch in a version, with those that had ended by then, without texts. */
export function selectPaths(branchId: string, version: number): Statement {
  return selectStates(branchId, version, "described")
}

/** Converts the rows of `selectPaths`. */
export function toPathStates(found: readonly PathRow[]): readonly PathState[] {
  return found.flatMap(({ path, described }) => {
    if (described === null) return []
    const [since, fileId = "", type, updatedAt, bytes] = described.split(" ")
    return [
      {
        path,
        since: Number(since),
        fileId,
        bytes: Number(bytes),
        type: type === "-" ? null : (type as FileType),
        updatedAt: Number(updatedAt),
      },
    ]
  })
}

/** The rows of `selectPaths` in a script. */
export function* readPaths(branchId: string, version: number): Statements<readonly PathState[]> {
  return toPathStates(yield* rows<PathRow>(selectPaths(branchId, version)))
}

/** Selects columns of what the files of a branch import in a version; `i` is the import. */
export function selectImports(columns: Statement, branchId: string, version: number): Statement {
  return sql`select ${columns} from (${selectStates(branchId, version)}) p cross join imports i
    where i.branch_id = ${branchId} and i.path = p.path and i.since = p.since`
}

/** Whether the state of an import `i` is that of its file in the newest version. */
export const isCurrentState = raw(
  "not exists (select 1 from states s where s.branch_id = i.branch_id and s.path = i.path and s.since > i.since)",
)
