import { type Database, firstRow, type Script, type Statement, sql } from "@hamlet/database"
import { RecentMap } from "@hamlet/kit"
import type { Bundle } from "@hamlet/npm"
import type { BundleFiles, StoredBundle } from "@hamlet/sandbox"
import type { BundleStore } from "../../domain/modules/lockfiles.ts"

interface BundleRow {
  readonly bytes: number
  readonly hasFiles: boolean
}

interface ScriptRow {
  readonly code: Uint8Array
  readonly cache: Uint8Array | null
}

interface SliceRow {
  readonly hash: string
  readonly createdAt: number
  readonly isUsed: boolean
}

const limits = {
  /** Bundles of which it is known that they are there, without their content. */
  knownMax: 1_000,
}

/** Bundles in the database. */
export function createBundleStore(db: Database): BundleStore {
  // The content of a hash never changes.
  const known = new RecentMap<string, StoredBundle>(limits.knownMax)
  return {
    async find(hash) {
      const cached = known.get(hash)
      if (cached) return cached
      const found = await findBundle(db, hash)
      if (found) known.set(hash, found)
      return found
    },
    async findTypes(hash) {
      const row = await db.first<{ content: Uint8Array }>`
        select content from bundle_types where bundle_hash = ${hash}`
      return row?.content
    },
    async purge(after, createdBefore, countMax) {
      const next = await db.read<SliceRow>(selectSlice(after, countMax))
      const unused = next.filter((row) => row.createdAt < createdBefore && !row.isUsed)
      if (unused.length > 0) await db.write(() => deleteUnused(unused, createdBefore))
      return next.length < countMax ? undefined : next.at(-1)?.hash
    },
  }
}

async function findBundle(db: Database, hash: string): Promise<StoredBundle | undefined> {
  const row = await db.first<BundleRow>`
    select length(code) + coalesce(length(cache), 0) as bytes,
      exists (select 1 from bundle_files f where f.bundle_hash = hash) as has_files
    from bundles where hash = ${hash}`
  if (!row) return undefined
  return {
    hash,
    bytes: row.bytes,
    files: row.hasFiles ? createFiles(db, hash) : null,
    async read() {
      const script = await db.first<ScriptRow>`
        select code, cache from bundles where hash = ${hash}`
      if (!script) throw new Error(`Cannot read bundle ${hash}: it was deleted`)
      return script
    },
  }
}

function createFiles(db: Database, hash: string): BundleFiles {
  return {
    async read() {
      const row = await db.first<{ content: Uint8Array }>`
        select content from bundle_files where bundle_hash = ${hash}`
      if (!row) throw new Error(`Cannot read the files of bundle ${hash}: they were deleted`)
      return row.content
    },
  }
}

/**
 * An existing bundle gets a new creation time: a concurrent purge waits for this transaction and
 * then finds that the bundle is no longer old. The V8 cache is replaced, because the latest one comes
 * from the Deno in use.
 */
export function* writeBundle(
  { hash, code, cache }: Bundle,
  { files, types }: BundleContents,
  at: number,
): Script<void> {
  yield sql`insert into bundles (hash, created_at, code, cache) values (${hash}, ${at}, ${code}, ${cache})
    on conflict (hash) do update set created_at = excluded.created_at, cache = coalesce(excluded.cache, bundles.cache)`
  if (files)
    yield sql`insert into bundle_files (bundle_hash, content) values (${hash}, ${files})
      on conflict (bundle_hash) do nothing`
  if (types)
    yield sql`insert into bundle_types (bundle_hash, content) values (${hash}, ${types})
      on conflict (bundle_hash) do nothing`
}

/** The archives of a bundle, read before the transaction. */
export interface BundleContents {
  readonly files: Uint8Array | undefined
  readonly types: Uint8Array | undefined
}

/** Keeps a bundle for one more lockfile, as `writeBundle` does. False when it was deleted. */
export function* keepBundle(hash: string, at: number): Script<boolean> {
  const kept = yield* firstRow`
    update bundles set created_at = ${at} where hash = ${hash} returning hash`
  return kept !== undefined
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
