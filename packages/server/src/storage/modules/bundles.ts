import type { Bundle, BundleFiles, BundleStore } from "../../domain/modules/lockfiles.ts"
import type { Database, Script } from "../database/database.ts"
import { type Statement, sql } from "../database/sql.ts"

interface BundleRow {
  readonly code: Uint8Array
  readonly cache: Uint8Array | null
  readonly has_files: number | boolean
}

interface SliceRow {
  readonly hash: string
  readonly created_at: number | string
  readonly is_used: number | boolean
}

const limits = {
  /**
   * The size of the cache of the last used bundles, on databases where reading a bundle takes longer
   * than reading the rest of a program.
   */
  cachedBytesMax: 16 * 1024 * 1024,
}

/** Bundles in the database. */
export function createBundleStore(db: Database): BundleStore {
  const find = async (hash: string) => {
    const [row] = await db.read<BundleRow>(sql`
      select code, cache, exists (select 1 from bundle_files f where f.bundle_hash = hash) as has_files
      from bundles where hash = ${hash}`)
    return (
      row && {
        hash,
        code: row.code,
        cache: row.cache,
        files: row.has_files ? createFiles(db, hash) : null,
      }
    )
  }
  return {
    find: db.dialect.gather ? cacheLatest(find) : find,
    async purge(after, createdBefore, countMax) {
      const next = await db.read<SliceRow>(selectSlice(after, countMax))
      const unused = next.filter((row) => Number(row.created_at) < createdBefore && !row.is_used)
      if (unused.length > 0) await db.write(() => deleteUnused(unused, createdBefore))
      return next.length < countMax ? undefined : next.at(-1)?.hash
    },
  }
}

function createFiles(db: Database, hash: string): BundleFiles {
  return {
    async read() {
      const [row] = await db.read<{ content: Uint8Array }>(
        sql`select content from bundle_files where bundle_hash = ${hash}`,
      )
      if (!row) throw new Error(`Cannot read the files of bundle ${hash}: they were deleted`)
      return row.content
    },
  }
}

/**
 * Caches the last used bundles. The content of a hash never changes, so an entry never becomes
 * stale.
 */
function cacheLatest(find: BundleStore["find"]): BundleStore["find"] {
  // A Map keeps the order of insertion, so its first entry is the least recently used.
  const cached = new Map<string, Bundle>()
  let bytes = 0
  return async (hash) => {
    const bundle = cached.get(hash) ?? (await find(hash))
    if (!bundle) return undefined
    if (!cached.delete(hash)) bytes += weigh(bundle)
    cached.set(hash, bundle)
    for (const [oldest, other] of cached) {
      if (bytes <= limits.cachedBytesMax) break
      cached.delete(oldest)
      bytes -= weigh(other)
    }
    return bundle
  }
}

function weigh({ code, cache }: Bundle): number {
  return code.length + (cache?.length ?? 0)
}

/**
 * An existing bundle gets a new creation time: a concurrent purge waits for this transaction and
 * then finds that the bundle is no longer old. The V8 cache is replaced, because the latest one comes
 * from the Deno in use.
 */
export function* writeBundle(
  { hash, code, cache }: Bundle,
  files: Uint8Array | undefined,
  at: number,
): Script<void> {
  yield sql`insert into bundles (hash, created_at, code, cache) values (${hash}, ${at}, ${code}, ${cache})
    on conflict (hash) do update set created_at = excluded.created_at, cache = coalesce(excluded.cache, bundles.cache)`
  if (files)
    yield sql`insert into bundle_files (bundle_hash, content) values (${hash}, ${files})
      on conflict (bundle_hash) do nothing`
}

// SQLite returns 1, PostgreSQL true.
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
