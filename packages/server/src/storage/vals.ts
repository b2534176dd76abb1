import type { ImportAddress } from "../domain/import-address.ts"
import type { Decide, NewVal, SavedVal, Val, ValStore } from "../domain/vals.ts"
import { changeVal } from "./change-val.ts"
import { createFindById } from "./find-val.ts"
import { type Database, firstRow, type Script } from "./database.ts"
import { countOutgoing, insertImports, relinkIncoming, relinkOutgoing } from "./dependencies.ts"
import type { Dialect } from "./dialect.ts"
import { foldText } from "./fold-text.ts"
import { searchVals } from "./search.ts"
import { toSlice } from "./slices.ts"
import { nothing, type Statement, sql } from "./sql.ts"
import { listVals } from "./val-lists.ts"
import { toVal, type ValRow, valColumns, withCurrentVersion } from "./val-rows.ts"

/** Vals in the database. */
export function createValStore(db: Database): ValStore {
  return {
    findById: createFindById(db),
    async findByName(username, name) {
      const [row] = await db.read<ValRow>(sql`
        select ${valColumns} from users u
        join vals v on v.owner_id = u.id join versions c on c.val_id = v.id and c.version = v.version
        where u.username_key = ${username.toLowerCase()} and v.name_key = ${name.toLowerCase()}`)
      return row && toVal(row)
    },
    async list(viewerId, filter, page) {
      return toSlice(await db.read<ValRow>(listVals(viewerId, filter, page)), page, toVal)
    },
    search: (viewerId, query, page) => searchVals(db, viewerId, query, page),
    create: (val, at) => db.write(() => createVal(db.dialect, val, at)),
    change: (id, decide, at) => db.write(() => changeById(db.dialect, id, decide, at)),
    createOrChange: (val, decide, at) => db.write(() => createOrChange(db.dialect, val, decide, at)),
    delete: (id, assert) => db.write(() => deleteVal(db.dialect, id, assert)),
  }
}

/** The val with that id, which stays as it is until the transaction ends. */
export function* lockVal(dialect: Dialect, id: string): Script<Val | undefined> {
  return yield* lockWhere(dialect, sql`v.id = ${id}`)
}

function* lockWhere(dialect: Dialect, condition: Statement): Script<Val | undefined> {
  // Locked first and read after: a select that waits for a lock may join the locked row with older rows of other tables.
  if (dialect.forUpdate !== nothing) {
    const locked = yield* firstRow<{ id: string }>(sql`select v.id from vals v where ${condition} ${dialect.forUpdate}`)
    if (!locked) return undefined
  }
  const row = yield* firstRow<ValRow>(sql`select ${valColumns} from vals v ${withCurrentVersion} where ${condition}`)
  return row && toVal(row)
}

function* createVal(dialect: Dialect, val: NewVal, at: number): Script<Val | undefined> {
  const { code, imports } = val.source
  const inserted = yield* firstRow(sql`
    insert into vals (id, owner_id, name, name_key, privacy, type, readme, version, version_last, created_at, updated_at)
    values (${val.id}, ${val.ownerId}, ${val.name}, ${val.name.toLowerCase()}, ${val.privacy}, ${val.type}, ${val.readme}, 1, 1, ${at}, ${at})
    on conflict (owner_id, name_key) do nothing returning id`)
  if (!inserted) return undefined
  yield sql`insert into versions (val_id, version, code, created_at) values (${val.id}, 1, ${code}, ${at})`
  yield sql`insert into search_texts (val_id, is_public, name, body)
    values (${val.id}, ${val.privacy === "public" ? 1 : 0}, ${foldText(val.name)}, ${foldText(`${code}\n${val.readme ?? ""}`)})`
  const owner = yield* firstRow<{ username: string }>(sql`select username from users where id = ${val.ownerId}`)
  const ownerName = owner?.username ?? ""
  yield* linkNewVal(dialect, val, ownerName, imports, at)
  const row = yield* firstRow<ValRow>(sql`select ${valColumns} from vals v ${withCurrentVersion} where v.id = ${val.id}`)
  return row && toVal(row)
}

function* linkNewVal(dialect: Dialect, val: NewVal, ownerName: string, imports: readonly ImportAddress[], at: number): Script<void> {
  const linked = { id: val.id, ownerId: val.ownerId, version: 1, isPublic: val.privacy === "public" }
  yield* relinkIncoming(dialect, linked, ownerName, val.name, at)
  if (imports.length === 0) return
  yield* insertImports(dialect, val.id, 1, imports)
  yield* relinkOutgoing(linked, at)
}

function* changeById(dialect: Dialect, id: string, decide: Decide, at: number): Script<SavedVal | undefined> {
  const val = yield* lockVal(dialect, id)
  return val && (yield* changeVal(dialect, val, decide(val), at))
}

function* createOrChange(dialect: Dialect, val: NewVal, decide: Decide, at: number): Script<SavedVal> {
  const named = sql`v.owner_id = ${val.ownerId} and v.name_key = ${val.name.toLowerCase()}`
  for (;;) {
    const found = yield* lockWhere(dialect, named)
    if (found) return yield* changeVal(dialect, found, decide(found), at)
    // Somebody may create or delete it between the two statements: then it is looked for again.
    const created = yield* createVal(dialect, val, at)
    if (created) return { val: created, isNewVersion: true }
  }
}

function* deleteVal(dialect: Dialect, id: string, assert: (val: Val) => void): Script<boolean> {
  const val = yield* lockVal(dialect, id)
  if (!val) return false
  assert(val)
  if (val.privacy === "public") yield* countOutgoing(id, -1)
  yield sql`insert into run_purges (val_id) values (${id}) on conflict do nothing`
  yield sql`delete from vals where id = ${id}`
  return true
}
