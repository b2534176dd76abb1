import { summarizeVal } from "../../packages/server/src/domain/vals/summary.ts"

/** The row of a bare program's response. */
export interface BareRow {
  readonly id: string
  readonly owner_id: string
  readonly owner_name: string
  readonly name: string
  readonly description: string | null
  readonly privacy: string
  readonly type: string
  readonly readme: string | null
  readonly version: number
  readonly code: string
  readonly version_created_at: number | string
  readonly like_count: number
  readonly reference_count: number
  readonly fork_count: number
  readonly file_count: number
  readonly branch_count: number
  readonly forked_from_version: number | null
  readonly origin_id: string | null
  readonly origin_name: string | null
  readonly origin_owner_id: string | null
  readonly origin_owner_name: string | null
  readonly created_at: number | string
  readonly updated_at: number | string
  readonly run_started_at: number | string | null
  readonly run_ended_at: number | string | null
}

/** The columns of the row that the server joins; the driver adds the condition on the id. */
export const bareColumns = `v.id, v.owner_id, u.username as owner_name, v.name, v.description, v.privacy, c.type, d.content as readme, n.version, c.content as code,
  n.created_at as version_created_at, v.like_count, v.reference_count, v.fork_count, b.file_count, v.branch_count, v.created_at,
  case when b.updated_at > v.updated_at then b.updated_at else v.updated_at end as updated_at, v.run_started_at,
  v.run_ended_at, v.forked_from_version, o.id as origin_id, o.name as origin_name, o.owner_id as origin_owner_id, ou.username as origin_owner_name
  from vals v join users u on u.id = v.owner_id join branches b on b.id = v.id join versions n on n.branch_id = b.id and n.version = b.version
  left join states c on c.branch_id = n.branch_id and c.path = n.entry_path and c.since = n.entry_since
  left join states d on d.branch_id = n.branch_id and d.path = 'README.md' and d.since = n.readme_since
  left join vals o on o.id = v.forked_from_id left join users ou on ou.id = o.owner_id`

const base = "http://localhost:8080"

/** A response with the fields of the server's. */
export function toBareAnswer(row: BareRow): object {
  const self = `${base}/v1/vals/${row.id}`
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    version: row.version,
    code: row.code,
    readme: row.readme,
    summary: summarizeVal(row),
    privacy: row.privacy,
    public: row.privacy === "public",
    type: row.type,
    url: `${base}/u/${row.owner_name}/${row.name}`,
    links: {
      self,
      versions: `${self}/versions`,
      module: `${base}/v/${row.owner_name}/${row.name}`,
      ...(row.type === "http"
        ? { endpoint: `http://${row.owner_name}-${row.name}.localhost:8080`.toLowerCase() }
        : {}),
    },
    author: { id: row.owner_id, username: row.owner_name },
    likeCount: row.like_count,
    referenceCount: row.reference_count,
    forkCount: row.fork_count,
    files: row.file_count,
    branchCount: row.branch_count,
    forkedFrom: row.origin_id && {
      id: row.origin_id,
      name: row.origin_name,
      version: row.forked_from_version,
      author: { id: row.origin_owner_id, username: row.origin_owner_name },
    },
    createdAt: toTime(row.created_at),
    updatedAt: toTime(row.updated_at),
    versionCreatedAt: toTime(row.version_created_at),
    runStartAt: row.run_started_at === null ? null : toTime(row.run_started_at),
    runEndAt: row.run_ended_at === null ? null : toTime(row.run_ended_at),
  }
}

/** The id at the end of the address. */
export function toId(request: Request): string {
  return request.url.slice(request.url.lastIndexOf("/") + 1)
}

function toTime(ms: number | string): string {
  return new Date(Number(ms)).toISOString()
}
