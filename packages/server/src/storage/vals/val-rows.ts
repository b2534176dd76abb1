import {
  type Dialect,
  firstRow,
  listedTextBytesMax,
  raw,
  type Statement,
  type Statements,
  sql,
} from "@hamlet/database"
import type { Privacy, ValAccess } from "../../domain/access/rights.ts"
import { mainBranch } from "../../domain/modules/import-address.ts"
import { entryPath } from "../../domain/modules/module-url.ts"
import { summarizedCharsMax } from "../../domain/vals/summary.ts"
import type { OmittedText, ValPageRequest } from "../../domain/vals/vals.ts"

/** When the val `v` was changed: its settings, or the files of its main branch `b`. */
export const updatedAt = raw(
  "case when b.updated_at > v.updated_at then b.updated_at else v.updated_at end as updated_at",
)

/** The entry file of the main branch, which a val without files has as well. */
const entryFile = {
  id: "coalesce(c.file_id, v.id)",
  path: `coalesce(n.entry_path, '${entryPath}')`,
  since: "coalesce(n.entry_since, n.version)",
  branchId: "v.id",
  branchName: `'${mainBranch}'`,
  isEntry: "1",
}

/**
 * The columns of a Val; `v` is the val, `u` its owner, `b` its main branch, `n` the version, `c` its entry file, `d` its
 * readme, and `o` and `ou` are from `withOrigin`.
 */
export const valColumns = toColumns("d.content", "coalesce(c.content, '')")

/**
 * The columns of a Val in a list: code and readme are null where they are long together, see
 * `readVals`. Of a text that the list leaves out, it has the beginning, from which the summary is
 * made.
 */
export function toListedColumns({ omit = [] }: Pick<ValPageRequest, "omit">): Statement {
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

function toColumns(readme: string, code: string, file = entryFile): Statement {
  return raw(`v.id, v.owner_id, u.username as owner_name, u.secrets_version as owner_secrets_version,
  u.suspended_at is not null as is_owner_suspended, u.kind <> 'user' as is_owner_org, v.name, v.description, v.image_url, v.privacy, case when c.type is null or c.type = 'file' then 'script' else c.type end as type, ${readme} as readme,
  n.version, ${code} as code, n.created_at as version_created_at, v.like_count, v.reference_count, v.fork_count, b.file_count, v.branch_count, v.endpoint_file_id, v.mail_file_id, v.created_at, ${updatedAt.text},
  ${file.id} as file__id, ${file.path} as file__path, ${file.since} as file__since,
  ${file.branchId} as file__branch_id, ${file.branchName} as file__branch_name, ${file.isEntry} as file__is_entry,
  v.run_started_at, v.run_ended_at, coalesce(v.forked_from_version, 1) as forked_from__version, o.id as forked_from__id,
  o.name as forked_from__name, o.privacy as forked_from__privacy, o.owner_id as forked_from__owner_id, ou.username as forked_from__owner_name`)
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

/**
 * Whether a column is that id, for a statement that joins the current version. PostgreSQL would conclude
 * from `=` that it is the id of the branch too, and read all versions of that branch to find the one with
 * the number.
 */
export function isJoinedId(dialect: Dialect, column: "v.id" | "b.id", id: string): Statement {
  return dialect.gather ? dialect.isAnyId(column, [id]) : sql`${raw(column)} = ${id}`
}

/** Joins the owner, the current version of the main branch `b`, and the original to the val `v`. */
export const withCurrentVersion = sql`
  join users u on u.id = v.owner_id join branches b on b.id = v.id
  join versions n on n.branch_id = b.id and n.version = b.version ${withEntry} ${withOrigin}`

/** The columns of a Val that is one of its files `f`, whose state is `c`. */
export const valFileColumns = toColumns("d.content", "coalesce(c.content, '')", {
  id: "f.id",
  path: "f.path",
  since: "c.since",
  branchId: "b.id",
  branchName: "b.name",
  isEntry: "case when b.id = v.id and f.path = n.entry_path then 1 else 0 end",
})

/** The tables of these columns. `files` has the path that a file was moved to last. */
export const valFileTables = sql`
  files f join branches b on b.id = f.branch_id join versions n on n.branch_id = b.id and n.version = b.version
  join states c on c.branch_id = b.id and c.path = f.path and c.file_id = f.id and c.type <> 'directory' and c.since =
    (select max(l.since) from states l where l.branch_id = b.id and l.path = f.path and l.since <= b.version)
  left join states d on d.branch_id = b.id and d.path = 'README.md' and d.since = n.readme_since
  join vals v on v.id = b.val_id join users u on u.id = v.owner_id ${withOrigin}`

/** What decides who may see a val, and may like or comment on it. */
export interface LockedAccess extends ValAccess {
  readonly trend: number
}

/** Reads that and keeps others from changing the val until the transaction ends. */
export function* lockAccess(dialect: Dialect, valId: string): Statements<LockedAccess | undefined> {
  const row = yield* firstRow<{ ownerId: string; privacy: Privacy; trend: number }>`
    select owner_id, privacy, trend from vals where id = ${valId} ${dialect.forUpdate}`
  return row && { ownerId: row.ownerId, privacy: row.privacy, trend: row.trend }
}
