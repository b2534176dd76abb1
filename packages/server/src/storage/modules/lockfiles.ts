import {
  createBatchLookup,
  createExactCache,
  type Database,
  type Dialect,
  firstRow,
  join,
  raw,
  type Script,
  type Statement,
  sql,
} from "@hamlet/database"
import { toOwnJson } from "@hamlet/kit"
import type {
  Lockfile,
  LockfileStore,
  LockfileSummary,
  Resolution,
} from "../../domain/modules/lockfiles.ts"
import type { SettledResolution } from "../../domain/vals/val-source.ts"
import { keepBundle } from "./bundles.ts"

interface StampRow extends LockfileSummary {
  readonly key: string
}

const limits = {
  /** Versions looked up in one statement. */
  keysMax: 50,
  cachedMax: 50_000,
  /** Larger lockfiles are resolved again when code changes: parsing them would block the server. */
  carriedCharsMax: 200_000,
}

/** Lockfiles in the database. Their table is called `locks`. */
export function createLockfileStore(db: Database): LockfileStore {
  const findByKey = createFindStamp(db)
  return {
    async findSummary(valId, version) {
      const found = (await findByKey(`${valId} ${version}`)) ?? "none"
      if (found === "none") return null
      const { state, bundle, updatedAt } = found
      return { state, bundle, updatedAt }
    },
    async find(valId, version) {
      const found = await db.first<Lockfile>`
        select state, bundle_hash as bundle, updated_at, case when node_id is null then next_attempt_at end as retry_at, resolution as resolution_json
        from locks where branch_id = ${valId} and version = ${version}`
      return found ?? null
    },
    add: (valId, version, at) =>
      db.run`insert into locks (branch_id, version, owner_id, state, next_attempt_at, updated_at)
        select r.branch_id, r.version, v.owner_id, 'pending', ${db.dialect.now}, ${at} from versions r join vals v on v.id = r.branch_id
        where r.branch_id = ${valId} and r.version = ${version}
        on conflict (branch_id, version) do nothing`,
    reopen: (valId, version, at) =>
      db.run`update locks set state = 'pending', attempts = 0, next_attempt_at = ${db.dialect.now}, updated_at = ${at}, resolution = null
        where branch_id = ${valId} and version = ${version} and (state = 'failed' or (state = 'pending' and node_id is null))`,
  }
}

/** The lockfile of a new version. Its times but the last are those of the database's clock. */
export function insertLockfile(
  { now }: Dialect,
  valId: string,
  version: number,
  ownerId: string,
  at: number,
): Statement {
  return sql`insert into locks (branch_id, version, owner_id, state, next_attempt_at, updated_at)
    values (${valId}, ${version}, ${ownerId}, 'pending', ${now}, ${at})`
}

/**
 * The lockfile of a new version that is a copy. A bundle that was deleted a moment ago is fetched
 * again.
 */
export function* copyLockfile(
  dialect: Dialect,
  valId: string,
  version: number,
  ownerId: string,
  { state, resolution }: SettledResolution,
  at: number,
): Script<void> {
  const { bundle } = resolution
  if (bundle !== null && !(yield* keepBundle(bundle, at))) {
    yield insertLockfile(dialect, valId, version, ownerId, at)
    return
  }
  yield sql`insert into locks (branch_id, version, owner_id, state, updated_at, bundle_hash, resolution)
    values (${valId}, ${version}, ${ownerId}, ${state}, ${at}, ${bundle}, ${toOwnJson(resolution)})`
}

/** The lockfile of a new version with the packages of the one before, whose bundle is in use. */
export function insertReady(
  branchId: string,
  version: number,
  ownerId: string,
  resolution: Resolution,
  at: number,
): Statement {
  return sql`insert into locks (branch_id, version, owner_id, state, updated_at, bundle_hash, resolution)
    values (${branchId}, ${version}, ${ownerId}, 'ready', ${at}, ${resolution.bundle}, ${toOwnJson(resolution)})`
}

/** The lockfile of a version in a script. Without its packages if reading them would take long. */
export function* readLockfile({
  branchId,
  version,
}: BranchVersion): Script<Pick<Lockfile, "state" | "resolution"> | null> {
  const row = yield* firstRow<Pick<Lockfile, "state" | "resolution">>`
    select state, case when length(resolution) <= ${limits.carriedCharsMax} then resolution end as resolution_json
    from locks where branch_id = ${branchId} and version = ${version}`
  return row ?? null
}

/** A version of a branch. */
interface BranchVersion {
  readonly branchId: string
  readonly version: number
}

/** The lockfile of a new version whose code is that of another one; nothing if that has none. */
export function takeOverLockfile(
  { now }: Dialect,
  from: BranchVersion,
  to: BranchVersion,
  at: number,
): Statement {
  return sql`insert into locks (branch_id, version, owner_id, state, next_attempt_at, updated_at, bundle_hash, resolution)
    select n.branch_id, n.version, l.owner_id, l.state, case when l.state = 'pending' then ${now} end, ${at}, l.bundle_hash, l.resolution
    from locks l join versions n on n.branch_id = ${to.branchId} and n.version = ${to.version}
    where l.branch_id = ${from.branchId} and l.version = ${from.version}`
}

/** The absence of a lockfile is cached too. */
type FoundStamp = StampRow | "none"

function createFindStamp(db: Database): (key: string) => Promise<FoundStamp | undefined> {
  const fetchMany = async (keys: readonly string[]) => {
    const found = await db.read<StampRow>(join(keys.map(selectStamp), " union all "))
    const byKey = new Map(found.map((row) => [row.key, row]))
    return new Map<string, FoundStamp>(keys.map((key) => [key, byKey.get(key) ?? "none"]))
  }
  if (db.dialect.gather) return createBatchLookup(fetchMany, limits)
  return createExactCache(
    db,
    async (key) => (await fetchMany([key])).get(key),
    { weightMax: limits.cachedMax },
    () => 1,
  )
}

function selectStamp(key: string): Statement {
  const [valId = "", version] = key.split(" ")
  return sql`select cast(${key} as ${raw("text")}) as key, state, bundle_hash as bundle, updated_at from locks
    where branch_id = ${valId} and version = ${Number(version)}`
}
