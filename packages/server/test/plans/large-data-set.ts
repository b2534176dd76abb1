import { type Database, raw } from "@hamlet/database"
import { findPartitionTables } from "../../src/storage/runs/partition-tables.ts"
import { foldText } from "../../src/storage/search/fold-text.ts"

/**
 * How many rows there are: enough that a planner who may choose prefers an index, as in production.
 */
const sizes = {
  users: 10_000,
  /** Each has ten members, and the first user belongs to many of them. */
  orgs: 1_000,
  orgsOfFirst: 40,
  /** Users who have vals; the first of them has far more than the others. */
  owners: 200,
  vals: 20_000,
  /** Vals of the first user, and runs of the first val. */
  heavy: 2_000,
  secondVersions: 10_000,
  dependencies: 5_000,
  likes: 20_000,
  comments: 10_000,
  runs: 50_000,
  /** Runs of one user that wait. */
  queued: 100_000,
  secrets: 5_000,
  idempotencyKeys: 5_000,
  /**
   * The first versions of so many vals have a lock; every tenth is pending, and every bundle is
   * named by two.
   */
  locks: 10_000,
  bundles: 6_000,
  blobs: 20_000,
  /** Every tenth waits, and every eleventh has failed. */
  emails: 10_000,
  objects: 5_000,
  webhooks: 5_000,
  /** Half of them of the first webhook; one of twenty waits: a webhook takes no more than 1,000. */
  deliveries: 20_000,
}

/** Kinds of ids, so that no two records share one. */
const kinds = {
  user: 1,
  val: 2,
  comment: 3,
  run: 4,
  token: 5,
  object: 6,
  email: 7,
  webhook: 8,
  delivery: 9,
  org: 10,
}

/** The id of the n-th record of a kind. */
export function idOf(kind: keyof typeof kinds, number: number): string {
  return `${toPrefix(kind)}${number.toString(16).padStart(12, "0")}`
}

function toPrefix(kind: keyof typeof kinds): string {
  return `${kinds[kind].toString(16)}0000000-0000-7000-8000-`
}

/** The first user's first vals by privacy: `privacyOf` says why it is these. */
export const examples = {
  /** All runs that wait are of this val, on the account of its owner. */
  crowdingUser: idOf("user", 150),
  crowdingVal: idOf("val", 2149),
  publicVal: idOf("val", 1),
  privateVal: idOf("val", 7),
  unlistedVal: idOf("val", 9),
  strangersVal: idOf("val", 2601),
}

/** Fills an empty database in one transaction. Where runs have partitions, two have many. */
export async function createLargeDataSet(db: Database): Promise<void> {
  const statements = toStatements(db.dialect.types.id === "uuid")
  const tables = findPartitionTables(db.dialect)
  if (tables) {
    await db.write(() => tables.drop("before"))
    await db.write(() =>
      tables.add({
        name: "half",
        isReserved: false,
        from: idOf("run", 0),
        to: idOf("run", sizes.runs / 2),
      }),
    )
  }
  await db.write(
    function* () {
      for (const text of statements) yield raw(text)
    },
    { isPatient: true },
  )
}

function toStatements(hasUuids: boolean): readonly string[] {
  const id = (kind: keyof typeof kinds, number: string) => {
    const prefix = toPrefix(kind)
    return hasUuids
      ? `('${prefix}' || lpad(to_hex(${number}), 12, '0'))::uuid`
      : `printf('${prefix}%012x', ${number})`
  }
  const bytes = (number: string) =>
    hasUuids
      ? `decode(lpad(to_hex(${number}), 64, '0'), 'hex')`
      : `unhex(printf('%064x', ${number}))`
  // Numbers from 1 to the count, in words that both databases understand.
  const numbers = (count: number) =>
    `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${count})`
  const time = (number: string) => `1700000000000 + ${number} * 1000`
  const owner = (val: string) => id("user", ownerOf(val))
  const val = (number: string) => id("val", number)
  return [
    `insert into users (id, username, username_key, created_at) ${numbers(sizes.users)}
      select ${id("user", "n")}, 'user' || n, 'user' || n, ${time("n")} from numbers`,
    `insert into users (id, username, username_key, kind, created_at) ${numbers(sizes.orgs)}
      select ${id("org", "n")}, 'org' || n, 'org' || n, 'org', ${time("n")} from numbers`,
    `insert into memberships (org_id, user_id, role, created_at, accepted_at) ${numbers(sizes.users)}
      select ${id("org", `1 + n % ${sizes.orgs}`)}, ${id("user", "n")}, 'member', ${time("n")}, ${time("n")} from numbers where n > 1`,
    `insert into memberships (org_id, user_id, role, created_at, accepted_at) ${numbers(sizes.orgsOfFirst)}
      select ${id("org", "n")}, ${id("user", "1")}, 'owner', ${time("n")}, ${time("n")} from numbers`,
    `insert into invitations (id, hash, creator_id, created_at, expires_at, org_id, role) ${numbers(sizes.orgs)}
      select ${id("org", "n")}, ${bytes("n")}, ${id("user", "n")}, ${time("n")}, 9000000000000, ${id("org", "n")}, 'member' from numbers`,
    `insert into tokens (id, user_id, hash, name, scopes, created_at) ${numbers(sizes.users)}
      select ${id("token", "n")}, ${id("user", "n")}, ${bytes("n")}, 'first', 'val:read', ${time("n")} from numbers`,
    `insert into vals (id, owner_id, name, name_key, privacy, like_count, created_at, updated_at) ${numbers(sizes.vals)}
      select ${val("n")}, ${owner("n")}, 'val' || n, 'val' || n, ${privacyOf("n")}, n % 50, ${time("n")}, ${time("n")} from numbers`,
    `insert into branches (id, val_id, name, name_key, version, version_last, entry_type, created_at, updated_at) ${numbers(sizes.vals)}
      select ${val("n")}, ${val("n")}, 'main', 'main', ${versionOf("n")}, ${versionOf("n")}, 'script', ${time("n")}, ${time("n")} from numbers`,
    `insert into files (id, branch_id, path) ${numbers(sizes.vals)} select ${val("n")}, ${val("n")}, 'main.tsx' from numbers`,
    ...[1, 2].flatMap((version) => {
      const count = version === 1 ? sizes.vals : sizes.secondVersions
      return [
        `insert into versions (branch_id, version, created_at, entry_path, entry_since) ${numbers(count)}
          select ${val("n")}, ${version}, ${time("n")}, 'main.tsx', ${version} from numbers`,
        `insert into states (branch_id, path, since, file_id, type, created_at, content) ${numbers(count)}
          select ${val("n")}, 'main.tsx', ${version}, ${val("n")}, 'script', ${time("n")}, 'export const common = ' || n || ' + ${version}' from numbers`,
      ]
    }),
    `insert into search_texts (val_id, is_public, name, body) ${numbers(sizes.vals)}
      select ${val("n")}, case when ${privacyOf("n")} = 'public' then 1 else 0 end, 'val' || n,
        '${foldText("export const common = ")}' || n || case when n % 1000 = 1 then '${foldText(" needle")}' else '' end from numbers`,
    `insert into imports (branch_id, path, since, username_key, name_key) ${numbers(sizes.dependencies)}
      select ${val(importer)}, 'main.tsx', ${versionOf(importer)}, 'user' || ${ownerOf(imported)}, 'val' || ${imported} from numbers`,
    `insert into dependencies (from_val_id, to_val_id, to_owner_id, created_at) ${numbers(sizes.dependencies)}
      select ${val(importer)}, ${val(imported)}, ${owner(imported)}, ${time("n")} from numbers`,
    `insert into locks (branch_id, version, owner_id, state, next_attempt_at, updated_at, bundle_hash, resolution) ${numbers(sizes.locks)}
      select ${val("n")}, 1, ${owner("n")}, case when n % 10 = 0 then 'pending' when n % 10 = 1 then 'failed' else 'ready' end,
        case when n % 10 = 0 then ${time("n")} end, ${time("n")},
        case when n % 10 < 2 then null else 'hash' || (n % 5000) end, '{"imports":[],"bundle":null}' from numbers`,
    `insert into bundles (hash, created_at, code) ${numbers(sizes.bundles)}
      select 'hash' || n, ${time("n")}, ${bytes("n")} from numbers`,
    // Seven and the number of vals have no common factor, so no user likes a val twice.
    `insert into likes (user_id, val_id, created_at) ${numbers(sizes.likes)}
      select ${id("user", `1 + n % ${sizes.owners}`)}, ${val(`1 + (n * 7) % ${sizes.vals}`)}, ${time("n")} from numbers`,
    `insert into comments (id, val_id, val_owner_id, author_id, comment, created_at) ${numbers(sizes.comments)}
      select ${id("comment", "n")}, ${val(commented)}, ${owner(commented)}, ${id("user", `1 + n % ${sizes.owners}`)}, 'nice', ${time("n")}
      from numbers`,
    `insert into runs (id, val_id, version, account_id, owner_id, source, status, started_at, ended_at) ${numbers(sizes.runs)}
      select ${id("run", "n")}, ${val(ran)}, 1, case when n % 20 = 0 then ${id("user", `1 + n % ${sizes.owners}`)} else ${owner(ran)} end, ${owner(ran)},
        case when n % 10 = 0 then 'api' when n % 10 = 1 then 'interval' else 'http' end,
        case when n % 50 = 0 then 'failed' when n % 51 = 0 then 'crashed' else 'succeeded' end, ${time("n")}, ${time("n")} from numbers`,
    `insert into runs (id, val_id, version, account_id, owner_id, source, status, started_at, due_at, fence) ${numbers(sizes.queued)}
      select ${id("run", `${sizes.runs} + n`)}, ${val("2149")}, 1, ${id("user", "150")}, ${id("user", "150")}, 'api', 'queued', ${time("n")}, ${time("n")}, 1
      from numbers`,
    `insert into secrets (user_id, name, key_id, sealed, created_at, updated_at) ${numbers(sizes.secrets)}
      select ${id("user", "n")}, 'NAME', 'key', ${bytes("n")}, ${time("n")}, ${time("n")} from numbers`,
    `insert into webhooks (id, owner_id, url, events, has_run_events, status, key_id, sealed, created_at, updated_at) ${numbers(sizes.webhooks)}
      select ${id("webhook", "n")}, ${id("user", "n")}, 'https://receiver.invalid/', '["val.saved","val.liked","run.failed"]', 1, 'active', 'key',
        ${bytes("n")}, ${time("n")}, ${time("n")} from numbers`,
    `insert into webhook_deliveries (id, webhook_id, owner_id, type, event_key, at, depth, data, status, lane, next_attempt_at, tried_since,
        created_at, ended_at) ${numbers(sizes.deliveries)}
      select ${id("delivery", "n")}, ${id("webhook", delivered)}, ${id("user", delivered)}, 'val.saved', 'key' || n, ${time("n")}, 1, '{}',
        case when n % 20 = 0 then 'waiting' else 'delivered' end, 'lane' || (n % 5000),
        case when n % 20 = 0 then ${time("n")} + 1000000000000 end, ${time("n")}, ${time("n")}, case when n % 20 > 0 then ${time("n")} + 1000000000000 end
      from numbers`,
    // A third of them is unused.
    `insert into objects (id, owner_id, place, size, unused_since) ${numbers(sizes.objects)}
      select ${id("object", "n")}, ${id("user", `1 + n % ${sizes.owners}`)}, 'database', 1, case when n % 3 = 0 then ${time("n")} end from numbers`,
    `insert into object_chunks (object_id, number, content) ${numbers(sizes.objects)}
      select ${id("object", "n")}, 0, ${bytes("n")} from numbers`,
    `insert into blobs (owner_id, key, size, modified_at, content) ${numbers(sizes.blobs)}
      select ${owner("n")}, 'key' || n, 32, ${time("n")}, ${bytes("n")} from numbers`,
    `insert into blobs (owner_id, key, size, modified_at, object_id) ${numbers(sizes.objects)}
      select ${id("user", "1")}, 'large' || n, 32, ${time("n")}, ${id("object", "n")} from numbers where n % 3 > 0`,
    `insert into val_blobs (val_id, key, size, modified_at, content) ${numbers(sizes.blobs)}
      select ${id("val", "1 + n % 100")}, 'key' || n, 32, ${time("n")}, ${bytes("n")} from numbers`,
    `insert into emails (id, account_id, kind, run_id, sender, recipients, recipient_count, subject, bytes, stored_bytes, status, next_attempt_at, created_at, ended_at) ${numbers(sizes.emails)}
      select ${id("email", "n")}, ${id("user", `1 + n % ${sizes.owners}`)}, 'val', ${id("run", "n")}, 'a@b.test', '[]', 1, 'Hi', 5, case when n % 100 = 0 then 5 else 0 end,
        case when n % 10 = 0 then 'waiting' when n % 11 = 0 then 'failed' else 'sent' end, case when n % 10 = 0 then ${time("n")} end, ${time("n")},
        case when n % 10 > 0 then ${time("n")} end from numbers`,
    `insert into idempotency_keys (user_id, key, fingerprint, expires_at) ${numbers(sizes.idempotencyKeys)}
      select ${id("user", "n")}, 'key', ${bytes("n")}, ${time("n")} + 1000000000000 from numbers`,
  ]
}

// Each an expression for the n-th record.
const importer = `(${sizes.heavy} + n)`
const imported = "(1 + n % 500)"
const delivered = `(case when n <= ${sizes.deliveries / 2} then 1 else 1 + n % ${sizes.webhooks} end)`
const commented = `(1 + (n * 13) % ${sizes.vals})`
const ran = `(case when n <= ${sizes.heavy} then 1 else 1 + n % ${sizes.vals} end)`

function ownerOf(val: string): string {
  return `(case when ${val} <= ${sizes.heavy} then 1 else 1 + ${val} % ${sizes.owners} end)`
}

function versionOf(val: string): string {
  return `(case when ${val} <= ${sizes.secondVersions} then 2 else 1 end)`
}

function privacyOf(val: string): string {
  return `(case when ${val} % 10 < 6 then 'public' when ${val} % 10 < 8 then 'private' else 'unlisted' end)`
}
