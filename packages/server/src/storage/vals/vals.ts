import { toValNameKey } from "@hamlet/contract"
import {
  afterCursor,
  asIs,
  createBatchLookup,
  createExactCache,
  type Database,
  type Dialect,
  firstRow,
  join,
  limitPart,
  limitTo,
  newestFirst,
  raw,
  type Script,
  type Statement,
  sql,
  type TableColumns,
  toPage,
} from "@hamlet/database"
import type { Viewer } from "../../domain/access/rights.ts"
import { type Cause, findCause } from "../../domain/call-depth.ts"
import type {
  AssertVal,
  EmptyVal,
  NewVal,
  SavedVal,
  Val,
  ValChange,
  ValFilter,
  ValPageRequest,
  ValState,
  ValStore,
} from "../../domain/vals/vals.ts"
import { isVisible } from "../access/visibility.ts"
import { writeLinksOnce } from "../accounts/write-once.ts"
import { emitDeleted } from "../events/val-events.ts"
import { entryType } from "../files/branch-rows.ts"
import { countOutgoing } from "../references/links.ts"
import {
  type LinkChange,
  LinksMoved,
  lockNames,
  lockVals,
  type NameKey,
  toNameKey,
  toTurn,
  writeLinks,
} from "../references/row-locks.ts"
import { searchRanked } from "../search/search.ts"
import { changeVal, type LockedVal } from "./changes/change-val.ts"
import { type ChangeableRow, selectChangeable, toChangeable } from "./changes/changeable-vals.ts"
import { indexBacklog } from "./index-backlog.ts"
import { type CopiedFiles, insertVal } from "./insert-val.ts"
import { listRanked } from "./ranked-vals.ts"
import { readVals } from "./read-vals.ts"
import { addValPurge } from "./val-purges.ts"
import {
  isJoinedId,
  toListedColumns,
  updatedAt,
  valColumns,
  valFileColumns,
  valFileTables,
  withCurrentVersion,
  withEntry,
  withOrigin,
} from "./val-rows.ts"

const limits = {
  keysMax: 100,
  cachedCharsMax: 8_000_000,
  countsAtOnceMax: 500,
  usageBranchesMax: 20_000,
}

/** Vals in the database. */
export function createValStore(db: Database): ValStore {
  return {
    findById: createFind(db, byId),
    findByFile: createFind(db, byFile),
    findByName: (username, name, viewer) => db.first<Val>`
      select ${valColumns} from users u
      join vals v on v.owner_id = u.id join branches b on b.id = v.id
      join versions n on n.branch_id = b.id and n.version = b.version ${withEntry} ${withOrigin}
      where u.username_key = ${username.toLowerCase()} and v.name_key = ${toValNameKey(name)} and ${isVisible(db.dialect, viewer)}`,
    list: (viewer, filter, page) =>
      readVals<Val>(db, page, selectVals(viewer, filter, page), newestFirst.toKeys),
    async listStates(ownerId, countMax) {
      const page = { limit: countMax, offset: 0 }
      const found = await db.read<ValState>`
        select v.id, v.name, b.version, v.privacy, ${entryType} as type, ${updatedAt} from vals v join branches b on b.id = v.id
        where v.owner_id = ${ownerId} order by v.name_key ${limitTo(page)}`
      return toPage(found, page, asIs)
    },
    async findUsage(ownerId) {
      const found = await db.read<{ id: string; valId: string; bytes: number }>`
        select b.id, b.val_id, b.bytes from vals v join branches b on b.val_id = v.id
        where v.owner_id = ${ownerId} limit ${limits.usageBranchesMax}`
      return {
        vals: found.filter((row) => row.id === row.valId).length,
        bytes: found.reduce((sum, row) => sum + row.bytes, 0),
      }
    },
    listRanked: (ranking, ownerId, page) => listRanked(db, ranking, ownerId, page),
    addRunCounts: (counts) => db.write(() => addRunCounts(db.dialect, counts)),
    search: (viewer, query, page, searcher) => searchRanked(db, viewer, query, page, searcher),
    indexBacklog: (valsMax) => indexBacklog(db, valsMax),
    create(val, at) {
      const cause = findCause()
      return writeLinksOnce(db, toTurn(val), () => createValRow(db.dialect, val, at, cause))
    },
    createEmpty(val, at) {
      const cause = findCause()
      return writeLinksOnce(db, toTurn(val), () => createEmpty(db.dialect, val, at, cause))
    },
    change(id, change, assert, at) {
      const cause = findCause()
      return writeLinksOnce(db, id, () => changeById(db.dialect, id, change, assert, at, cause))
    },
    createOrChange(val, change, assert, at) {
      const cause = findCause()
      return writeLinks(db, toTurn(val), () =>
        createOrChange(db.dialect, val, change, assert, at, cause),
      )
    },
    delete(id, assert) {
      const cause = findCause()
      return writeLinks(db, id, () => deleteValRow(db.dialect, id, assert, cause))
    },
  }
}

/** How a val is found. */
interface Lookup {
  readonly select: Statement
  /** The column of the id. */
  readonly column: string
  toId(val: Val): string
}

const byId: Lookup = {
  select: sql`select ${valColumns} from vals v ${withCurrentVersion}`,
  column: "v.id",
  toId: ({ id }) => id,
}

const byFile: Lookup = {
  select: sql`select ${valFileColumns} from ${valFileTables}`,
  column: "f.id",
  toId: ({ file }) => file.id,
}

/** Finds a val by an id, the first lookup of nearly every request. */
function createFind(db: Database, { select, column, toId }: Lookup): ValStore["findById"] {
  const find = (id: string) => db.first<Val>`${select} where ${raw(column)} = ${id}`
  const { gather } = db.dialect
  if (!gather) return createExactCache(db, find, { weightMax: limits.cachedCharsMax }, weigh)
  return createBatchLookup<string, Val>(async (ids) => {
    const found = await db.read<Val>`${select} where ${db.dialect.isAnyId(column, ids)}`
    return new Map(found.map((val) => [toId(val), val]))
  }, limits)
}

/** With the response that is made of it, which is kept as long: it has the texts once more. */
function weigh(val: Val): number {
  return 2 * (val.code.length + (val.readme?.length ?? 0)) + 2_000
}

/**
 * Public vals and those of the viewer's owners, newest first. "Public or own" as one condition would scan the
 * table: each part that the filter leaves is read from an index, in order and limited, and the parts
 * are merged.
 */
export function selectVals(
  viewer: Viewer | undefined,
  filter: ValFilter,
  page: ValPageRequest,
): Statement {
  const parts = partsOf(viewer, filter)
  if (parts.length === 0) return sql`select 1 where 1 = 0`
  const after = afterCursor(page, "created_at, id", newestFirst.kinds)
  const limited = parts.map(
    (part) => sql`select * from (select id, created_at from vals where ${part} ${after}
      order by created_at desc, id desc ${limitPart(page)}) part`,
  )
  return sql`
    select ${toListedColumns(page)}
    from (select id, created_at from (${join(limited, " union all ")}) parts order by created_at desc, id desc ${limitTo(page)}) found
    join vals v on v.id = found.id ${withCurrentVersion}
    order by v.created_at desc, v.id desc`
}

/** The condition of each part; no val is in two of them. */
function partsOf(viewer: Viewer | undefined, filter: ValFilter): readonly Statement[] {
  const { ownerId, privacy, forkOf } = filter
  const owners = [...(viewer?.roles.keys() ?? [])].filter(
    (id) => ownerId === undefined || ownerId === id,
  )
  const parts: Statement[] = []
  if (privacy === undefined || privacy === "public") {
    parts.push(
      ownerId === undefined
        ? sql`privacy = 'public'`
        : sql`privacy = 'public' and owner_id = ${ownerId}`,
    )
  }
  for (const id of owners) {
    if (privacy === undefined) parts.push(sql`privacy <> 'public' and owner_id = ${id}`)
    else if (privacy !== "public")
      parts.push(sql`privacy <> 'public' and privacy = ${privacy} and owner_id = ${id}`)
  }
  return forkOf === undefined
    ? parts
    : parts.map((part) => sql`${part} and forked_from_id = ${forkOf}`)
}

/**
 * The val, with row locks on it and on the vals it is linked to, until the transaction ends.
 */
export function* lockVal(dialect: Dialect, change: LinkChange): Script<LockedVal | undefined> {
  yield* lockNames(dialect, [...(change.imports ?? []), ...(change.name ? [change.name] : [])])
  // Lock first, then read: a select that waits for a lock may join the locked row with older rows of
  // other tables.
  const locks = yield* lockVals(dialect, change)
  const row = yield* firstRow<ChangeableRow>`
    ${selectChangeable} where ${isJoinedId(dialect, "v.id", change.valId)}`
  return row && { ...toChangeable(row), locks }
}

/** Reads a val in a script. */
export function* readVal(dialect: Dialect, id: string): Script<Val | undefined> {
  return yield* firstRow<Val>`
    select ${valColumns} from vals v ${withCurrentVersion} where ${isJoinedId(dialect, "v.id", id)}`
}

/** Creates a val. Undefined when its owner already has a val with that name. */
export function* createValRow(
  dialect: Dialect,
  val: NewVal,
  at: number,
  cause: Cause,
  copied?: CopiedFiles,
): Script<Val | undefined> {
  const first = { version: 1, source: val.source, createdAt: at }
  const beginning = { versions: [first], createdAt: at, updatedAt: at, copied }
  const isNew = yield* insertVal(dialect, val, beginning, at, cause)
  return isNew ? yield* readVal(dialect, val.id) : undefined
}

/** Version 0 has no files. */
function* createEmpty(
  dialect: Dialect,
  val: EmptyVal,
  at: number,
  cause: Cause,
): Script<Val | undefined> {
  const empty = { ...val, type: "script", readme: null } as const
  const beginning = { versions: [], createdAt: at, updatedAt: at }
  const isNew = yield* insertVal(dialect, empty, beginning, at, cause)
  return isNew ? yield* readVal(dialect, val.id) : undefined
}

function* changeById(
  dialect: Dialect,
  id: string,
  change: ValChange,
  assert: AssertVal,
  at: number,
  cause: Cause,
): Script<SavedVal | undefined> {
  const name = change.name === undefined ? undefined : yield* findNewName(id, change.name)
  const locked = yield* lockVal(dialect, { valId: id, name, ...toLinkChange(change) })
  if (!locked) return undefined
  assert(locked.val)
  return yield* changeVal(dialect, locked, change, at, cause)
}

function* findNewName(id: string, name: string): Script<NameKey | undefined> {
  const owner = yield* firstRow<{ username: string }>`
    select u.username from vals v join users u on u.id = v.owner_id where v.id = ${id}`
  return owner && toNameKey(owner.username, name)
}

function toLinkChange(change: ValChange): Pick<LinkChange, "imports" | "isRecounted"> {
  return { imports: change.source?.imports, isRecounted: change.privacy !== undefined }
}

function* createOrChange(
  dialect: Dialect,
  val: NewVal,
  change: ValChange,
  assert: AssertVal<Val | undefined>,
  at: number,
  cause: Cause,
): Script<SavedVal> {
  const nameKey = toValNameKey(val.name)
  const found = yield* firstRow<{ id: string }>`
    select id from vals where owner_id = ${val.ownerId} and name_key = ${nameKey}`
  if (!found) {
    assert(undefined)
    const created = yield* createValRow(dialect, val, at, cause)
    if (!created) throw new LinksMoved()
    return {
      val: created,
      isNewVersion: true,
      isNewCode: true,
      isRemote: val.source.isRemote === true,
    }
  }
  const locked = yield* lockVal(dialect, { valId: found.id, ...toLinkChange(change) })
  if (!locked || toValNameKey(locked.val.name) !== nameKey) throw new LinksMoved()
  assert(locked.val)
  return yield* changeVal(dialect, locked, change, at, cause)
}

const runCountColumns: TableColumns = { run_val_id: "id", new_runs: "integer" }

/** In the order of the ids, so that two nodes wait for each other instead of deadlocking. */
function* addRunCounts(dialect: Dialect, counts: ReadonlyMap<string, number>): Script<void> {
  const rows = [...counts].sort(([left], [right]) => (left < right ? -1 : 1))
  for (let from = 0; from < rows.length; from += limits.countsAtOnceMax) {
    const part = rows
      .slice(from, from + limits.countsAtOnceMax)
      .map(([id, runs]) => ({ run_val_id: id, new_runs: runs }))
    yield sql`update vals set run_count = run_count + new_runs
      from ${dialect.tableOf(part, runCountColumns)} where id = run_val_id`
  }
}

/** Deletes a val after `assert` has accepted it. False when there is no such val. */
export function* deleteValRow(
  dialect: Dialect,
  id: string,
  assert: AssertVal,
  cause: Cause,
): Script<boolean> {
  const locked = yield* lockVal(dialect, { valId: id, isRecounted: true })
  if (!locked) return false
  assert(locked.val)
  if (locked.val.privacy === "public") yield* countOutgoing(locked.locks, id, -1)
  yield* emitDeleted(dialect, locked.val, cause.depth)
  yield sql`insert into run_purges (val_id) values (${id}) on conflict do nothing`
  yield addValPurge({ valId: id, ownerId: locked.val.ownerId })
  yield sql`delete from vals where id = ${id}`
  return true
}
