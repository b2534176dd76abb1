import { mainBranch } from "../../domain/modules/import-address.ts"
import { entryPath } from "../../domain/modules/module-url.ts"
import type { OmittedText, PageRequest } from "../../domain/paging.ts"
import { summarizedCharsMax } from "../../domain/vals/summary.ts"
import type {
  ForkOrigin,
  Privacy,
  Val,
  ValAccess,
  ValState,
  ValType,
} from "../../domain/vals/vals.ts"
import { firstRow } from "../database/database.ts"
import type { Dialect } from "../database/dialect.ts"
import { raw, type Statement, type Statements, sql } from "../database/sql.ts"

/** A val joined with its owner and one of the versions of its main branch. */
export interface ValRow {
  readonly id: string
  readonly owner_id: string
  readonly owner_name: string
  readonly owner_secrets_version: number
  readonly owner_suspended_at: number | string | null
  readonly name: string
  readonly description: string | null
  readonly image_url: string | null
  readonly privacy: Privacy
  readonly type: ValType
  readonly readme: string | null
  readonly version: number
  /** Of the entry file; empty if there is none. */
  readonly code: string
  /** The state of the entry file; null when the version has none. */
  readonly entry_path: string | null
  readonly entry_since: number | null
  readonly entry_file_id: string | null
  readonly version_created_at: number | string
  readonly like_count: number
  readonly reference_count: number
  readonly fork_count: number
  readonly file_count: number
  readonly branch_count: number
  readonly forked_from_version: number | null
  /** The original's columns are null when it was deleted. */
  readonly origin_id: string | null
  readonly origin_name: string | null
  readonly origin_privacy: Privacy | null
  readonly origin_owner_id: string | null
  readonly origin_owner_name: string | null
  readonly created_at: number | string
  readonly updated_at: number | string
  readonly run_started_at: number | string | null
  readonly run_ended_at: number | string | null
}

/** When the val `v` was changed: its settings, or the files of its main branch `b`. */
export const updatedAt = raw(
  "case when b.updated_at > v.updated_at then b.updated_at else v.updated_at end as updated_at",
)

/**
 * The columns of a ValRow; `v` is the val, `u` its owner, `b` its main branch, `n` the version, `c` its entry file, `d` its
 * readme, and `o` and `ou` are from `withOrigin`.
 */
export const valColumns = toColumns("d.content", "coalesce(c.content, '')")

/**
 * Code and readme that are longer than this together are not read with a list, but one val at a
 * time: a page of the longest ones would be a single read of 40 MB.
 */
const listedTextBytesMax = 32_768

/**
 * The same columns for a list: code and readme are null where they are long, see `readVals`. Of a
 * text that the list leaves out, it has the beginning, from which the summary is made.
 */
export function toListedColumns({ omit = [] }: Pick<PageRequest, "omit">): Statement {
  const texts = {
    code: { column: "coalesce(c.content, '')", bytes: "coalesce(octet_length(c.content), 0)" },
    readme: { column: "d.content", bytes: "coalesce(octet_length(d.content), 0)" },
  } as const satisfies Record<OmittedText, object>
  const lengths = Object.entries(texts)
    .filter(([name]) => !omit.includes(name as OmittedText))
    .map(([, { bytes }]) => bytes)
  const toListed = (name: OmittedText) => {
    const { column } = texts[name]
    const text = omit.includes(name) ? `substr(${column}, 1, ${summarizedCharsMax})` : column
    return lengths.length === 0
      ? text
      : `case when ${lengths.join(" + ")} > ${listedTextBytesMax} then null else ${text} end`
  }
  return toColumns(toListed("readme"), toListed("code"))
}

function toColumns(readme: string, code: string): Statement {
  return raw(`v.id, v.owner_id, u.username as owner_name, u.secrets_version as owner_secrets_version,
  u.suspended_at as owner_suspended_at, v.name, v.description, v.image_url, v.privacy, case when c.type is null or c.type = 'file' then 'script' else c.type end as type, ${readme} as readme,
  n.version, ${code} as code, n.entry_path, n.entry_since, c.file_id as entry_file_id, n.created_at as version_created_at, v.like_count, v.reference_count, v.fork_count, b.file_count, v.branch_count, v.created_at, ${updatedAt.text},
  v.run_started_at, v.run_ended_at, v.forked_from_version, o.id as origin_id, o.name as origin_name, o.privacy as origin_privacy,
  o.owner_id as origin_owner_id, ou.username as origin_owner_name`)
}

/**
 * The code of a version `n` in a list, `null` where it is long. As a subquery, it is read for the rows
 * of the page only.
 */
export const listedCode = raw(
  `case when n.entry_path is null then '' else (select case when octet_length(c.content) > ${listedTextBytesMax} then null else c.content end
    from states c where c.branch_id = n.branch_id and c.path = n.entry_path and c.since = n.entry_since) end as code`,
)

/** Joins the val that `v` is a fork of, and its owner. */
export const withOrigin = raw(
  "left join vals o on o.id = v.forked_from_id left join users ou on ou.id = o.owner_id",
)

/** Joins the entry file of the version `n`. */
export const withCode = raw(
  "left join states c on c.branch_id = n.branch_id and c.path = n.entry_path and c.since = n.entry_since",
)

/** Joins the entry file and the readme of the version `n`. */
export const withEntry = raw(
  `${withCode.text}
  left join states d on d.branch_id = n.branch_id and d.path = 'README.md' and d.since = n.readme_since`,
)

/** Joins the owner, all versions of the main branch, their texts and the original to the val `v`. */
export const withVersions = sql`
  join users u on u.id = v.owner_id join branches b on b.id = v.id join versions n on n.branch_id = b.id ${withEntry} ${withOrigin}`

/** Joins the owner, the current version of the main branch `b`, and the original to the val `v`. */
export const withCurrentVersion = sql`
  join users u on u.id = v.owner_id join branches b on b.id = v.id
  join versions n on n.branch_id = b.id and n.version = b.version ${withEntry} ${withOrigin}`

/** Converts a row to a val of the domain. */
export function toVal(row: ValRow): Val {
  return {
    id: row.id,
    ownerId: row.owner_id,
    ownerName: row.owner_name,
    ownerSecretsVersion: row.owner_secrets_version,
    isOwnerSuspended: row.owner_suspended_at !== null,
    name: row.name,
    description: row.description,
    imageUrl: row.image_url,
    privacy: row.privacy,
    type: row.type,
    readme: row.readme,
    version: row.version,
    code: row.code,
    file: {
      id: row.entry_file_id ?? row.id,
      path: row.entry_path ?? entryPath,
      since: row.entry_since ?? row.version,
      branchId: row.id,
      branchName: mainBranch,
      isEntry: true,
    },
    versionCreatedAt: Number(row.version_created_at),
    likeCount: row.like_count,
    referenceCount: row.reference_count,
    forkCount: row.fork_count,
    fileCount: row.file_count,
    branchCount: row.branch_count,
    forkedFrom: toOrigin(row),
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
    runStartedAt: toTime(row.run_started_at),
    runEndedAt: toTime(row.run_ended_at),
  }
}

/** A val joined with one of its files, in the current version of the file's branch. */
export interface ValFileRow extends ValRow {
  readonly file_id: string
  readonly file_path: string
  readonly file_since: number
  readonly branch_id: string
  readonly branch_name: string
}

/** The columns of a ValFileRow: those of a ValRow, whose `c` is the file. */
export const valFileColumns = raw(
  `${valColumns.text}, f.id as file_id, f.path as file_path, c.since as file_since, b.id as branch_id, b.name as branch_name`,
)

/** The tables of these columns. `files` has the path that a file was moved to last. */
export const valFileTables = sql`
  files f join branches b on b.id = f.branch_id join versions n on n.branch_id = b.id and n.version = b.version
  join states c on c.branch_id = b.id and c.path = f.path and c.file_id = f.id and c.type <> 'directory' and c.since =
    (select max(l.since) from states l where l.branch_id = b.id and l.path = f.path and l.since <= b.version)
  left join states d on d.branch_id = b.id and d.path = 'README.md' and d.since = n.readme_since
  join vals v on v.id = b.val_id join users u on u.id = v.owner_id ${withOrigin}`

/** Converts a row to the val with that file. */
export function toValOfFile(row: ValFileRow): Val {
  const { branch_id: branchId, file_path: path } = row
  return {
    ...toVal(row),
    file: {
      ...{ id: row.file_id, path, since: row.file_since, branchId, branchName: row.branch_name },
      isEntry: branchId === row.id && path === row.entry_path,
    },
  }
}

function toOrigin(row: ValRow): ForkOrigin | null {
  const { origin_id, origin_name, origin_privacy, origin_owner_id, origin_owner_name } = row
  if (
    origin_id === null ||
    origin_name === null ||
    origin_privacy === null ||
    origin_owner_id === null ||
    origin_owner_name === null
  )
    return null
  return {
    id: origin_id,
    name: origin_name,
    privacy: origin_privacy,
    ownerId: origin_owner_id,
    ownerName: origin_owner_name,
    version: row.forked_from_version ?? 1,
  }
}

/** The columns that show whether a val has changed. */
export type ValStateRow = Pick<
  ValRow,
  "id" | "name" | "version" | "privacy" | "type" | "updated_at"
>

/** Converts a row to a state of the domain. */
export function toValState({
  id,
  name,
  version,
  privacy,
  type,
  updated_at,
}: ValStateRow): ValState {
  return { id, name, version, privacy, type, updatedAt: Number(updated_at) }
}

/** PostgreSQL returns 64-bit integers as text. */
export function toTime(value: number | string | null): number | null {
  return value === null ? null : Number(value)
}

/** Whether the viewer may find the val in a list: it is public or their own. */
export function isListed(alias: string, viewerId: string | undefined): Statement {
  const isPublic = raw(`${alias}.privacy = 'public'`)
  return viewerId === undefined
    ? isPublic
    : sql`(${isPublic} or ${raw(alias)}.owner_id = ${viewerId})`
}

/** Whether the user may see the val `v` at all. */
export function isVisible(viewerId: string | undefined): Statement {
  const isForAll = raw("v.privacy <> 'private'")
  return viewerId === undefined ? isForAll : sql`(${isForAll} or v.owner_id = ${viewerId})`
}

/** What decides who may see a val, and may like or comment on it. */
export interface LockedAccess extends ValAccess {
  readonly trend: number
}

/** Reads that and keeps others from changing the val until the transaction ends. */
export function* lockAccess(dialect: Dialect, valId: string): Statements<LockedAccess | undefined> {
  const row = yield* firstRow<{ owner_id: string; privacy: Privacy; trend: number | string }>(
    sql`select owner_id, privacy, trend from vals where id = ${valId} ${dialect.forUpdate}`,
  )
  return row && { ownerId: row.owner_id, privacy: row.privacy, trend: Number(row.trend) }
}
