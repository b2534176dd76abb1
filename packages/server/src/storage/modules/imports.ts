import type { ImportStore, ResolvedImport } from "../../domain/modules/module-graph.ts"
import { parseOwnJson } from "../../shared/hostile-input/bounded.ts"
import { createBatchLookup } from "../database/batch-lookups.ts"
import type { Database } from "../database/database.ts"
import { createExactCache } from "../database/exact-cache.ts"
import { join, raw, type Statement, sql } from "../database/sql.ts"
import { toTime } from "../vals/val-rows.ts"

interface ImportRow {
  readonly key: string
  readonly username_key: string
  readonly name_key: string
  readonly specifiers: string | null
  readonly is_pinned: number
  readonly pinned_at: number | string
  readonly val_id: string | null
  readonly owner_id: string | null
  readonly version: number | null
  readonly version_created_at: number | string | null
}

const limits = {
  /** Versions looked up in one statement. */
  keysMax: 20,
  cachedImportsMax: 50_000,
  /** More than the modules of a program may be. */
  importsPerVersionMax: 250,
}

/** The imports of versions, resolved against the current state of the database. */
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
    find: async (valId, version, asOf) =>
      (await findByKey(`${valId} ${version} ${asOf ?? ""}`)) ?? [],
  }
}

function weigh(imports: readonly ResolvedImport[]): number {
  return imports.length + 1
}

/** A pin to a deleted val finds nothing, and neither does an import of another user's private val. */
function selectImports(key: string): Statement {
  const [valId = "", version, asOf = ""] = key.split(" ")
  // As subqueries, so that both are known before imports are searched.
  const entry = (column: string) =>
    sql`select ${raw(column)} from versions where branch_id = ${valId} and version = ${Number(version)}`
  return sql`
    select cast(${key} as ${raw("text")}) as key, i.username_key, i.name_key, i.specifiers,
      case when i.pinned_version is null then 0 else 1 end as is_pinned, coalesce(i.pinned_at,
        (select s.created_at from states s where s.branch_id = i.branch_id and s.path = i.path and s.since = i.since)) as pinned_at,
      v.id as val_id, v.owner_id, c.version, c.created_at as version_created_at
    from imports i
    join vals m on m.id = i.branch_id
    left join users u on i.pinned_val_id is null and u.username_key = i.username_key
    left join vals n on n.owner_id = u.id and n.name_key = i.name_key
    left join vals v on v.id = coalesce(i.pinned_val_id, n.id) and (v.privacy <> 'private' or v.owner_id = m.owner_id)
    left join branches b on b.id = v.id
    left join versions c on c.branch_id = v.id and c.version = coalesce(i.pinned_version, ${asOf === "" ? raw("b.version") : versionAsOf(Number(asOf))})
    where i.branch_id = ${valId} and i.path = (${entry("entry_path")}) and i.since = (${entry("entry_since")})
    order by i.username_key, i.name_key limit ${limits.importsPerVersionMax}`
}

/**
 * The version that was current at that time, of those that still exist; the first version of a val
 * that was created later.
 */
function versionAsOf(at: number): Statement {
  return sql`
    (select a.version from versions a where a.branch_id = v.id and a.created_at <= ${at} order by a.version desc limit 1),
    (select min(a.version) from versions a where a.branch_id = v.id)`
}

function toImport(row: ImportRow): ResolvedImport {
  const { val_id: valId, owner_id: ownerId, version } = row
  return {
    address: `${row.username_key}/${row.name_key}`,
    specifiers: row.specifiers === null ? null : (parseOwnJson(row.specifiers) as string[]),
    isPinned: row.is_pinned === 1,
    pinnedAt: Number(row.pinned_at),
    val: valId === null || ownerId === null ? undefined : { id: valId, ownerId },
    version:
      version === null
        ? undefined
        : { number: version, savedAt: toTime(row.version_created_at) ?? 0 },
  }
}

function byAddress(left: ResolvedImport, right: ResolvedImport): number {
  return left.address < right.address ? -1 : 1
}
