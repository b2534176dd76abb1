import type {
  Lockfile,
  LockfileClaim,
  LockfileState,
  LockfileStore,
  LockfileSummary,
  Resolution,
  SettledLockfile,
} from "../../domain/modules/lockfiles.ts"
import type { SettledResolution } from "../../domain/vals/val-source.ts"
import { createBatchLookup } from "../database/batch-lookups.ts"
import { list } from "../database/batch-sizes.ts"
import { type Database, firstRow, type Script } from "../database/database.ts"
import { createExactCache } from "../database/exact-cache.ts"
import { join, nothing, raw, type Statement, sql } from "../database/sql.ts"
import { type BundleContents, keepBundle, writeBundle } from "./bundles.ts"

interface StampRow {
  readonly key: string
  readonly state: LockfileState
  readonly bundle_hash: string | null
  readonly updated_at: number | string
}

interface LockRow extends StampRow {
  readonly due_at: number | string
  readonly claimed_until: number | string | null
  readonly resolution: string | null
}

interface DueRow {
  readonly val_id: string
  readonly version: number
  readonly owner_id: string
}

const limits = {
  /** Versions looked up in one statement. */
  keysMax: 50,
  cachedMax: 50_000,
  /** How many due lockfiles a claim tries when other nodes claim the same ones. */
  candidatesMax: 5,
}

/** Lockfiles in the database. Their table is called `locks`. */
export function createLockfileStore(db: Database): LockfileStore {
  const findByKey = createFindStamp(db)
  return {
    findSummary: async (valId, version) => toStamp(await findByKey(`${valId} ${version}`)),
    async find(valId, version) {
      const [row] = await db.read<LockRow>(sql`
        select state, bundle_hash, updated_at, due_at, claimed_until, resolution from locks where val_id = ${valId} and version = ${version}`)
      return row ? toLock(row) : null
    },
    add: (valId, version, at) =>
      db.write(function* () {
        yield sql`insert into locks (val_id, version, state, due_at, updated_at)
          select val_id, version, 'pending', ${at}, ${at} from versions where val_id = ${valId} and version = ${version}
          on conflict (val_id, version) do nothing`
      }),
    reopen: (valId, version, at) =>
      db.write(function* () {
        yield sql`update locks set state = 'pending', attempts = 0, due_at = ${at}, claimed_until = null, updated_at = ${at}
          where val_id = ${valId} and version = ${version} and state = 'failed'`
      }),
    async claim({ at, until, busyOwners }) {
      const due = await db.read<DueRow>(selectDue(at, busyOwners))
      return due.length === 0 ? undefined : db.write(() => claimFirst(due, at, until))
    },
    async settle(claim, settled, at) {
      const files = await settled.bundle?.files?.read()
      const types = await settled.bundle?.types?.read()
      return await db.write(() => settle(claim, settled, { files, types }, at))
    },
    postpone: (claim, dueAt, { resolution, counts }) =>
      db.write(function* () {
        yield sql`update locks set due_at = ${dueAt}, claimed_until = null, attempts = ${counts ? claim.attempts : claim.attempts - 1},
          resolution = coalesce(${resolution && JSON.stringify(resolution)}, resolution) where ${isStill(claim)}`
      }),
  }
}

/** The lockfile of a new version. */
export function insertLockfile(valId: string, version: number, at: number): Statement {
  return sql`insert into locks (val_id, version, state, due_at, updated_at) values (${valId}, ${version}, 'pending', ${at}, ${at})`
}

/**
 * The lockfile of a new version that is a copy. A bundle that was deleted a moment ago is fetched
 * again.
 */
export function* copyLockfile(
  valId: string,
  version: number,
  { state, resolution }: SettledResolution,
  at: number,
): Script<void> {
  const { bundle } = resolution
  if (bundle !== null && !(yield* keepBundle(bundle, at))) {
    yield insertLockfile(valId, version, at)
    return
  }
  yield sql`insert into locks (val_id, version, state, due_at, updated_at, bundle_hash, resolution)
    values (${valId}, ${version}, ${state}, ${at}, ${at}, ${bundle}, ${JSON.stringify(resolution)})`
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
  return sql`select cast(${key} as ${raw("text")}) as key, state, bundle_hash, updated_at from locks
    where val_id = ${valId} and version = ${Number(version)}`
}

function toStamp(found: FoundStamp | undefined): LockfileSummary | null {
  if (found === undefined || found === "none") return null
  return { state: found.state, bundle: found.bundle_hash, updatedAt: Number(found.updated_at) }
}

function toLock(row: LockRow): Lockfile {
  return {
    state: row.state,
    bundle: row.bundle_hash,
    updatedAt: Number(row.updated_at),
    resolution: row.resolution === null ? null : (JSON.parse(row.resolution) as Resolution),
    retryAt: row.state === "pending" && row.claimed_until === null ? Number(row.due_at) : null,
  }
}

/** A claimed lockfile is due again when its claim has expired. */
function selectDue(at: number, busyOwners: readonly string[]): Statement {
  const ofOthers =
    busyOwners.length === 0 ? nothing : sql`and v.owner_id not in (${list(busyOwners)})`
  return sql`
    select l.val_id, l.version, v.owner_id from locks l join vals v on v.id = l.val_id
    where l.state = 'pending' and l.due_at <= ${at} ${ofOthers}
    order by l.due_at limit ${limits.candidatesMax}`
}

/**
 * Of two concurrent claims the second one finds that the lockfile is no longer due: it waits for the
 * row lock of the first.
 */
function* claimFirst(
  due: readonly DueRow[],
  at: number,
  until: number,
): Script<LockfileClaim | undefined> {
  for (const { val_id: valId, version, owner_id: ownerId } of due) {
    const claimed = yield* firstRow<{ attempts: number }>(sql`
      update locks set due_at = ${until}, claimed_until = ${until}, attempts = attempts + 1
      where val_id = ${valId} and version = ${version} and state = 'pending' and due_at <= ${at} returning attempts`)
    if (claimed) return { valId, version, ownerId, attempts: claimed.attempts, claimedUntil: until }
  }
  return undefined
}

function* settle(
  claim: LockfileClaim,
  { state, resolution, bundle }: SettledLockfile,
  contents: BundleContents,
  at: number,
): Script<boolean> {
  const settled = yield* firstRow(sql`
    update locks set state = ${state}, claimed_until = null, updated_at = ${at},
      bundle_hash = ${resolution.bundle}, resolution = ${JSON.stringify(resolution)}
    where ${isStill(claim)} returning version`)
  if (settled && bundle) yield* writeBundle(bundle, contents, at)
  return settled !== undefined
}

/** Another node may have taken the claim over, or the lockfile may have been reopened since. */
function isStill({ valId, version, attempts, claimedUntil }: LockfileClaim): Statement {
  return sql`val_id = ${valId} and version = ${version} and state = 'pending' and attempts = ${attempts} and claimed_until = ${claimedUntil}`
}
