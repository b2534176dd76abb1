import { inBatches, join, raw, rows, type Script, type Statement, sql } from "@hamlet/database"
import { toOwnJson } from "@hamlet/kit"
import { mainBranch } from "../../domain/modules/import-address.ts"
import type { ValImport } from "../../domain/vals/val-source.ts"
import type { Val } from "../../domain/vals/vals.ts"
import { type FileState, selectImports } from "../files/branch-rows.ts"
import { assertLocked, importersOf, type LinkLocks, type NameKey } from "./row-locks.ts"

/** The val whose links are updated. */
interface Linked {
  readonly id: string
  readonly ownerId: string
  readonly version: number
  readonly isPublic: boolean
}

/** The text of a file, and what it imports. */
interface ImportingText extends Pick<FileState, "path" | "since"> {
  readonly imports: readonly ValImport[]
}

/**
 * Inserts what the texts of files import. Imports of other people's vals are pinned to the current
 * val and version, unless they have a pin already.
 */
export function* insertImports(val: Importer, texts: readonly ImportingText[]): Script<void> {
  const rows = texts.flatMap(({ path, since, imports }) =>
    imports.map((one) => ({ ...one, path, since })),
  )
  for (const some of inBatches(rows)) {
    const values = some.map(
      ({ path, since, username, name, branch, version: named, specifiers, pin }) =>
        sql`(${val.id}, ${path}, ${since}, ${username}, ${name}, ${branch ?? ""}, ${pin?.version ?? named}, ${toOwnJson(specifiers)},
          ${pin?.valId ?? null}, ${pin?.at ?? null})`,
    )
    yield sql`insert into imports (branch_id, path, since, username_key, name_key, branch_key, pinned_version, specifiers, pinned_val_id, pinned_at)
      values ${join(values, ", ")} on conflict do nothing`
  }
  const owner = val.ownerName.toLowerCase()
  for (const { path, since, imports } of texts)
    if (imports.some(({ username }) => username !== owner))
      yield pinImports(val, sql`imports.path = ${path} and imports.since = ${since}`)
}

/** Pins the imports of other people's vals that meet the condition and have no pin. */
export function pinImports(val: Importer, condition: Statement): Statement {
  return sql`update imports set pinned_val_id = v.id, pinned_version = coalesce(imports.pinned_version, b.version)
    from users u join vals v on v.owner_id = u.id join branches b on b.val_id = v.id
    where b.name_key = case when imports.branch_key = '' then ${mainBranch} else imports.branch_key end
      and imports.branch_id = ${val.id} and ${condition} and imports.pinned_val_id is null
      and u.username_key = imports.username_key and v.name_key = imports.name_key
      and v.owner_id <> ${val.ownerId} and v.privacy <> 'private'`
}

/**
 * A text that another state has too imports the same: its pins, and the time that they are as of,
 * stay. The table has the columns `new_path`, `new_since`, `old_path` and `old_since`.
 */
export function copyImports(
  table: Statement,
  branch: { readonly from: string; readonly to: string },
): Statement {
  return sql`insert into imports (branch_id, path, since, username_key, name_key, branch_key, pinned_version, specifiers, pinned_val_id, pinned_at)
    select b.id, new_path, new_since, i.username_key, i.name_key, i.branch_key, i.pinned_version, i.specifiers, i.pinned_val_id,
      case when i.pinned_val_id is not null then coalesce(i.pinned_at, s.created_at) end
    from ${table} cross join branches b cross join imports i cross join states s
    where b.id = ${branch.to} and i.branch_id = ${branch.from} and i.path = old_path and i.since = old_since
      and s.branch_id = i.branch_id and s.path = i.path and s.since = i.since`
}

/** The branch that imports, which is the main one of its val. */
type Importer = Pick<Val, "id" | "ownerId" | "ownerName">

/**
 * To be called after the current version has changed: the val then depends on the imports of that
 * version only. Dependencies follow what runs: a pinned import means the val that it is pinned to,
 * whatever the name of that val is now. Returns the vals that it did not depend on before.
 */
export function* relinkOutgoing(
  locks: LinkLocks,
  val: Linked,
  at: number,
): Script<readonly AddedTarget[]> {
  const before = yield* listTargets(val.id)
  const found = yield* rows<{ id: string; ownerId: string }>`
    select v.id, v.owner_id from (${selectImports(raw("i.*"), val.id, val.version)}) i
    left join users u on i.pinned_val_id is null and u.username_key = i.username_key
    left join vals n on n.owner_id = u.id and n.name_key = i.name_key
    join vals v on v.id = coalesce(i.pinned_val_id, n.id)
    where v.id <> ${val.id}`
  // A val may be imported by its former name and by its current name.
  const after = [...new Map(found.map((target) => [target.id, target])).values()]
  const gone = before.filter((id) => !after.some((target) => target.id === id))
  const added = after.filter((target) => !before.includes(target.id))
  const addedIds = added.map((target) => target.id)
  assertLocked(locks, [...gone, ...addedIds])
  for (const id of gone)
    yield sql`delete from dependencies where from_val_id = ${val.id} and to_val_id = ${id}`
  for (const target of added) {
    yield sql`insert into dependencies (from_val_id, to_val_id, to_owner_id, created_at) values (${val.id}, ${target.id}, ${target.ownerId}, ${at})`
  }
  if (val.isPublic) {
    yield* addToCounts(gone, -1)
    yield* addToCounts(addedIds, 1)
  }
  return added.map((target) => ({ id: target.id, ownerId: target.ownerId }))
}

/** A val that another one depends on from now on. */
export interface AddedTarget {
  readonly id: string
  readonly ownerId: string
}

/**
 * To be called before a val stops being public, or after it has become public: reference counts and
 * fork counts include public vals only.
 */
export function* countOutgoing(locks: LinkLocks, valId: string, by: 1 | -1): Script<void> {
  const targets = yield* listTargets(valId)
  const origins = yield* rows<{ id: string }>`
    select o.id from vals v join vals o on o.id = v.forked_from_id where v.id = ${valId}`
  assertLocked(locks, [...targets, ...origins.map(({ id }) => id)])
  yield* addToCounts(targets, by)
  for (const { id } of origins) yield addToForkCount(id, by)
}

/** Changes the number of public forks of a val, which must be locked. */
export function addToForkCount(valId: string, by: 1 | -1): Statement {
  return sql`update vals set fork_count = fork_count + ${by} where id = ${valId}`
}

/**
 * To be called after a val was created or renamed: the vals that depend on it are those whose
 * current version is pinned to it, or imports its name without a pin. Returns the reference count.
 */
export function* relinkIncoming(
  locks: LinkLocks,
  val: Linked,
  address: NameKey,
  at: number,
): Script<number> {
  const importing = importersOf(val.id, address)
  const importers = yield* rows<{ id: string; privacy: string }>`
    select v.id, v.privacy from vals v where v.id <> ${val.id} and v.id in (${importing})`
  assertLocked(
    locks,
    importers.map((importer) => importer.id),
  )
  // A val that imports both the old and the new name keeps its dependency.
  yield sql`delete from dependencies where to_val_id = ${val.id} and from_val_id not in (${importing})`
  if (importers.length > 0) {
    yield sql`insert into dependencies (from_val_id, to_val_id, to_owner_id, created_at)
      select v.id, ${val.id}, ${val.ownerId}, ${at} from vals v where v.id <> ${val.id} and v.id in (${importing})
      on conflict (from_val_id, to_val_id) do nothing`
  }
  const count = importers.filter((importer) => importer.privacy === "public").length
  yield sql`update vals set reference_count = ${count} where id = ${val.id} and reference_count <> ${count}`
  return count
}

function* listTargets(valId: string): Script<readonly string[]> {
  const targets = yield* rows<{ toValId: string }>`
    select to_val_id from dependencies where from_val_id = ${valId}`
  return targets.map((target) => target.toValId)
}

function* addToCounts(valIds: readonly string[], by: 1 | -1): Script<void> {
  for (const id of valIds)
    yield sql`update vals set reference_count = reference_count + ${by} where id = ${id}`
}
