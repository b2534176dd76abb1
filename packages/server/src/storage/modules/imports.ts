import {
  createBatchLookup,
  createExactCache,
  type Database,
  join,
  raw,
  type Statement,
  sql,
} from "@hamlet/database"
import type {
  ImportStore,
  ImportTarget,
  ResolvedImport,
} from "../../domain/modules/graph/import-store.ts"
import type { SavedVersion } from "../../domain/modules/graph/version-files.ts"
import { mainBranch, toBranchKey } from "../../domain/modules/import-address.ts"

interface ImportRow {
  readonly key: string
  readonly usernameKey: string
  readonly nameKey: string
  readonly branchKey: string
  readonly specifiers: readonly string[] | null
  readonly isPinned: boolean
  readonly pinnedAt: number
  readonly target: ImportTarget | null
  readonly version: SavedVersion | null
}

const limits = {
  /** Files looked up in one statement. */
  keysMax: 20,
  cachedImportsMax: 50_000,
  /** More than the modules of a program may be. */
  importsPerFileMax: 250,
}

/** The imports of files, resolved against the current state of the database. */
export function createImportStore(db: Database): ImportStore {
  const fetchMany = async (keys: readonly string[]) => {
    const parts = keys.map((key) => sql`select * from (${selectImports(key)}) imported`)
    const found = await db.read<ImportRow>(join(parts, " union all "))
    const imports = Map.groupBy(found, ({ key }) => key)
    return new Map(keys.map((key) => [key, (imports.get(key) ?? []).map(toImport).sort(byAddress)]))
  }
  const findByKey = db.dialect.gather
    ? createBatchLookup(fetchMany, limits)
    : createExactCache(
        db,
        async (key) => (await fetchMany([key])).get(key),
        { weightMax: limits.cachedImportsMax },
        weigh,
      )
  return {
    find: async ({ branchId, path, since }, asOf) =>
      (await findByKey(`${branchId} ${path} ${since} ${asOf ?? ""}`)) ?? [],
  }
}

function weigh(imports: readonly ResolvedImport[]): number {
  return imports.length + 1
}

/** A pin to a deleted val finds nothing, and neither does an import of another user's private val. */
function selectImports(key: string): Statement {
  const [branchId = "", path = "", since, asOf = ""] = key.split(" ")
  return sql`
    select cast(${key} as ${raw("text")}) as key, i.username_key, i.name_key, i.branch_key, i.specifiers as specifiers_json,
      case when i.pinned_version is null then 0 else 1 end as is_pinned, coalesce(i.pinned_at,
        (select s.created_at from states s where s.branch_id = i.branch_id and s.path = i.path and s.since = i.since)) as pinned_at,
      v.id as target__val_id, v.owner_id as target__owner_id, o.username as target__owner_name, v.name as target__val_name,
      b.id as target__branch_id, b.name as target__branch_name, c.version as version__number, c.created_at as version__saved_at, c.entry_path as version___entry_path
    from imports i
    join branches f on f.id = i.branch_id join vals m on m.id = f.val_id
    left join users u on i.pinned_val_id is null and u.username_key = i.username_key
    left join vals n on n.owner_id = u.id and n.name_key = i.name_key
    left join vals v on v.id = coalesce(i.pinned_val_id, n.id) and (v.privacy <> 'private' or v.owner_id = m.owner_id)
    left join users o on o.id = v.owner_id
    left join branches b on b.val_id = v.id and b.name_key = case when i.branch_key = '' then ${mainBranch} else i.branch_key end
    left join versions c on c.branch_id = b.id and c.version = coalesce(i.pinned_version, ${asOf === "" ? raw("b.version") : versionAsOf(Number(asOf))})
    where i.branch_id = ${branchId} and i.path = ${path} and i.since = ${Number(since)}
    order by i.username_key, i.name_key, i.branch_key limit ${limits.importsPerFileMax}`
}

/**
 * The version that was current at that time, of those that still exist; the first version of a val
 * that was created later.
 */
function versionAsOf(at: number): Statement {
  return sql`
    (select a.version from versions a where a.branch_id = b.id and a.created_at <= ${at} order by a.version desc limit 1),
    (select min(a.version) from versions a where a.branch_id = b.id)`
}

function toImport(row: ImportRow): ResolvedImport {
  const { usernameKey: username, nameKey: name, branchKey } = row
  return {
    address: toBranchKey({ username, name, branch: branchKey === "" ? null : branchKey }),
    specifiers: row.specifiers,
    isPinned: row.isPinned,
    pinnedAt: row.pinnedAt,
    target: row.target ?? undefined,
    version: row.version ?? undefined,
  }
}

function byAddress(left: ResolvedImport, right: ResolvedImport): number {
  return left.address < right.address ? -1 : 1
}
