import type { ImportAddress } from "../domain/import-address.ts"
import { firstRow, rows, type Script } from "./database.ts"
import type { Dialect } from "./dialect.ts"
import type { NameKey } from "./link-locks.ts"
import { join, sql } from "./sql.ts"

/** The val whose references are brought up to date. */
interface Linked {
  readonly id: string
  readonly ownerId: string
  readonly version: number
  readonly isPublic: boolean
}

/** Writes down what a version imports, as it is written in its code. */
export function* insertImports(valId: string, version: number, imports: readonly ImportAddress[]): Script<void> {
  if (imports.length === 0) return
  const values = imports.map((address) => sql`(${valId}, ${version}, ${address.username}, ${address.name})`)
  yield sql`insert into imports (val_id, version, username_key, name_key) values ${join(values, ", ")} on conflict do nothing`
}

/** After the current version changed: the val depends on what that version imports, and on nothing else. */
export function* relinkOutgoing(val: Linked, at: number): Script<void> {
  const before = yield* rows<{ to_val_id: string }>(sql`select to_val_id from dependencies where from_val_id = ${val.id}`)
  const after = yield* rows<{ id: string; owner_id: string }>(sql`
    select v.id, v.owner_id from imports i
    join users u on u.username_key = i.username_key
    join vals v on v.owner_id = u.id and v.name_key = i.name_key
    where i.val_id = ${val.id} and i.version = ${val.version} and v.id <> ${val.id}`)
  const gone = before.filter((old) => !after.some((target) => target.id === old.to_val_id))
  const added = after.filter((target) => !before.some((old) => old.to_val_id === target.id))
  const removed: string[] = []
  for (const { to_val_id } of gone) {
    // One that was renamed at this moment has taken its links with it.
    const row = yield* firstRow(
      sql`delete from dependencies where from_val_id = ${val.id} and to_val_id = ${to_val_id} returning to_val_id`,
    )
    if (row) removed.push(to_val_id)
  }
  for (const target of added) {
    yield sql`insert into dependencies (from_val_id, to_val_id, to_owner_id, created_at) values (${val.id}, ${target.id}, ${target.owner_id}, ${at})`
  }
  if (!val.isPublic) return
  yield* addToCounts(removed, -1)
  yield* addToCounts(
    added.map((target) => target.id),
    1,
  )
}

/** Before a val stops being public, or after it has become so: only public vals are counted as references. */
export function* countOutgoing(dialect: Dialect, valId: string, by: 1 | -1): Script<void> {
  const targets = yield* rows<{ to_val_id: string }>(sql`
    select to_val_id from dependencies where from_val_id = ${valId} ${dialect.forUpdate}`)
  yield* addToCounts(
    targets.map((target) => target.to_val_id),
    by,
  )
}

/** After a val was created or renamed: those depend on it whose current version imports it by the name it has now. Gives how many of them count. */
export function* relinkIncoming(val: Pick<Linked, "id" | "ownerId">, address: NameKey, at: number): Script<number> {
  yield sql`delete from dependencies where to_val_id = ${val.id}`
  const linked = yield* rows<{ privacy: string }>(sql`
    select v.privacy from imports i join vals v on v.id = i.val_id and v.version = i.version
    where i.username_key = ${address.username} and i.name_key = ${address.name} and v.id <> ${val.id}`)
  if (linked.length > 0) {
    yield sql`
      insert into dependencies (from_val_id, to_val_id, to_owner_id, created_at)
      select v.id, ${val.id}, ${val.ownerId}, ${at} from imports i join vals v on v.id = i.val_id and v.version = i.version
      where i.username_key = ${address.username} and i.name_key = ${address.name} and v.id <> ${val.id}`
  }
  const count = linked.filter((importer) => importer.privacy === "public").length
  yield sql`update vals set reference_count = ${count} where id = ${val.id} and reference_count <> ${count}`
  return count
}

// In the order of their ids, so that two saves that touch the same vals wait for each other instead of deadlocking.
function* addToCounts(valIds: readonly string[], by: 1 | -1): Script<void> {
  for (const id of [...valIds].sort()) yield sql`update vals set reference_count = reference_count + ${by} where id = ${id}`
}
