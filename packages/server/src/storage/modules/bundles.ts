import type { Bundle, BundleStore } from "../../domain/modules/lockfiles.ts"
import type { Database, Script } from "../database/database.ts"
import { type Statement, sql } from "../database/sql.ts"

interface BundleRow {
  readonly code: Uint8Array
  readonly cache: Uint8Array | null
}

interface SliceRow {
  readonly hash: string
  readonly created_at: number | string
  readonly is_used: number | boolean
}

const limits = {
  /**
   * What the bundles weigh that were used last, where it takes longer to ask for them than for all
   * the rest of a program.
   */
  rememberedBytesMax: 16 * 1024 * 1024,
}

/** Bundles in the database. */
export function createBundleStore(db: Database): BundleStore {
  const find = async (hash: string) => {
    const [row] = await db.read<BundleRow>(
      sql`select code, cache from bundles where hash = ${hash}`,
    )
    return row && { hash, code: row.code, cache: row.cache }
  }
  return {
    find: db.dialect.gather ? rememberLatest(find) : find,
    async purge(after, createdBefore, countMax) {
      const next = await db.read<SliceRow>(selectSlice(after, countMax))
      const unused = next.filter((row) => Number(row.created_at) < createdBefore && !row.is_used)
      if (unused.length > 0) await db.write(() => deleteUnused(unused, createdBefore))
      return next.length < countMax ? undefined : next.at(-1)?.hash
    },
  }
}

/**
 * What has a hash never becomes anything else, so that what is remembered of it is right for as
 * long as anybody asks.
 */
function rememberLatest(find: BundleStore["find"]): BundleStore["find"] {
  // A Map keeps the order of insertion, so its first entry is the one not used for longest.
  const known = new Map<string, Bundle>()
  let bytes = 0
  return async (hash) => {
    const bundle = known.get(hash) ?? (await find(hash))
    if (!bundle) return undefined
    if (!known.delete(hash)) bytes += weigh(bundle)
    known.set(hash, bundle)
    for (const [oldest, other] of known) {
      if (bytes <= limits.rememberedBytesMax) break
      known.delete(oldest)
      bytes -= weigh(other)
    }
    return bundle
  }
}

function weigh({ code, cache }: Bundle): number {
  return code.length + (cache?.length ?? 0)
}

/**
 * One that is there already is as good as new: whoever deletes old ones at the same moment waits
 * for this transaction and then finds that it is not old. What V8 makes of the code is not always
 * the same, and the latest is from the Deno in use.
 */
export function writeBundle({ hash, code, cache }: Bundle, at: number): Statement {
  return sql`insert into bundles (hash, created_at, code, cache) values (${hash}, ${at}, ${code}, ${cache})
    on conflict (hash) do update set created_at = excluded.created_at, cache = coalesce(excluded.cache, bundles.cache)`
}

// SQLite says 1, PostgreSQL true.
function selectSlice(after: string, countMax: number): Statement {
  return sql`
    select slice.hash, slice.created_at, exists (select 1 from locks l where l.bundle_hash = slice.hash) as is_used
    from (select hash, created_at from bundles where hash > ${after} order by hash limit ${countMax}) slice`
}

function* deleteUnused(unused: readonly SliceRow[], createdBefore: number): Script<void> {
  for (const { hash } of unused) {
    yield sql`delete from bundles where hash = ${hash} and created_at < ${createdBefore}
      and not exists (select 1 from locks l where l.bundle_hash = ${hash})`
  }
}
