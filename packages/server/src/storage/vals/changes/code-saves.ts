import { currentWork, findOnce } from "@hamlet/kit"
import type { AssertVal, SavedVal, Val, ValChange } from "../../../domain/vals/vals.ts"
import { createBatchLookup } from "../../database/batch-lookups.ts"
import { type Database, rows, type Script } from "../../database/database.ts"
import type { CodeSave, Dialect, Gather } from "../../database/dialect.ts"
import { ConstraintError, isUnavailable, LockTimeout } from "../../database/errors.ts"
import { sql } from "../../database/sql.ts"
import type { FileState } from "../../files/branch-rows.ts"
import { allLocked } from "../../references/row-locks.ts"
import { changeVal, planChange, toSearchText } from "./change-val.ts"
import {
  type ChangeableRow,
  type ChangeableVal,
  selectChangeable,
  toChangeable,
} from "./changeable-vals.ts"

const limits = {
  /** Vals that one statement reads, and vals that one saves. */
  readMax: 100,
  savedMax: 32,
  /** Longer code has a transaction of its own: others would wait for it. */
  charsMax: 16_384,
}

/** Saves of new code, the most frequent change of a val. */
export interface CodeSaves {
  /**
   * Saves the code together with that of other requests: one statement reads the vals, and one
   * transaction writes what becomes of them. Undefined if nothing was written, because the change needs
   * more, another one came first, or one before or beside it has failed: then a transaction of its own
   * makes it.
   */
  save(
    id: string,
    change: ValChange,
    assert: AssertVal,
    at: number,
    depth: number,
  ): Promise<SavedVal | undefined>
}

/** A save that waits for others. */
interface Wanted {
  readonly change: ValChange
  readonly assert: AssertVal
  readonly at: number
  readonly depth: number
}

type Save = (id: string, wanted: Wanted) => Promise<SavedVal | undefined>

export function createCodeSaves(db: Database): CodeSaves {
  const { gather } = db.dialect
  const save = gather ? createGatheredSave(db, gather) : createScriptSave(db)
  return {
    async save(id, change, assert, at, depth) {
      if (!isCodeAlone(change) || findOnce()) return undefined
      return save(id, { change, assert, at, depth })
    },
  }
}

/** What becomes of a val. */
interface Decision {
  readonly saved: SavedVal
  /** Undefined if the val has that code already. */
  readonly save: CodeSave | undefined
}

/** Undefined if the change needs more. */
function decide(found: ChangeableVal, { change, at }: Wanted): Decision | undefined {
  const { entry } = found.main
  if (!entry || needsMore(found)) return undefined
  const { after, isNewVersion } = planChange(found, change, at)
  const val = isNewVersion ? after : found.val
  return {
    saved: { val, isNewVersion, isNewCode: isNewVersion, isRemote: false },
    save: isNewVersion ? toSave(found, entry, after) : undefined,
  }
}

/** Whether a change is nothing but code that imports nothing, and that can be stored. */
function isCodeAlone({ source, ...rest }: ValChange): boolean {
  return (
    source !== undefined &&
    source.code.length <= limits.charsMax &&
    !source.code.includes("\0") &&
    source.imports.length === 0 &&
    !source.isRemote &&
    source.lock === undefined &&
    Object.values(rest).every((value) => value === undefined)
  )
}

/**
 * Whether a save writes more than code and search text. What it depends on changes with the version of the
 * val: a val without other files whose code imports nothing gets no dependency otherwise.
 */
function needsMore({ main, ...found }: ChangeableVal): boolean {
  const { hasDependencies, hasImports, hasLockfile, hasConfig, hasWebhooks } = found
  const hasOtherFiles = main.fileCount > 1 + Number(main.readme !== undefined)
  return hasOtherFiles || hasDependencies || hasImports || hasLockfile || hasConfig || hasWebhooks
}

const selectAny = (dialect: Dialect, ids: readonly string[]) =>
  sql`${selectChangeable} where ${dialect.isAnyId("v.id", ids)}`

/**
 * Where round trips cost time: a statement that reads, and one that writes what is still as it was. A save
 * waits for the one of its val before it, or it would find the val changed.
 */
function createGatheredSave(db: Database, gather: Gather): Save {
  const find = createBatchLookup<string, ChangeableVal>(
    async (ids) => {
      const found = await db.read<ChangeableRow>(selectAny(db.dialect, ids))
      return new Map(found.map((row) => [row.id, toChangeable(row)]))
    },
    { keysMax: limits.readMax },
  )
  const write = createWrite(db, gather)
  const look = async (id: string, { assert }: Wanted) => {
    const found = await find(id)
    if (!found) return undefined
    assert(found.val)
    return needsMore(found) ? undefined : found
  }
  const make = async (found: ChangeableVal, wanted: Wanted) => {
    const { saved, save } = decide(found, wanted) ?? {}
    return save === undefined || (await write(save)) ? saved : undefined
  }
  const makeAfter = async (before: Promise<boolean>, id: string, wanted: Wanted) => {
    // Each of them tries alone, and fails at once: one after the other they would wait for each failure.
    if (!(await before)) return undefined
    const found = await look(id, wanted)
    return found && make(found, wanted)
  }
  /** The last save of each val that is being saved: whether the database was available to all of them. */
  const lastOf = new Map<string, Promise<boolean>>()
  return async (id, wanted) => {
    // Before it waits: the rule may refuse many saves, of users who do not own the val.
    const found = await look(id, wanted)
    if (!found) return undefined
    const before = lastOf.get(id)
    const saving = before === undefined ? make(found, wanted) : makeAfter(before, id, wanted)
    const settled = saving.then(
      () => before ?? true,
      (error) => !isUnavailable(error),
    )
    lastOf.set(id, settled)
    try {
      return await saving
    } finally {
      if (lastOf.get(id) === settled) lastOf.delete(id)
    }
  }
}

/** Returns whether the val was saved. */
function createWrite(db: Database, gather: Gather): (save: CodeSave) => Promise<boolean> {
  const waiting = new Map<string, CodeSave>()
  const write = createBatchLookup<string, true>(
    async (ids) => {
      const saves = ids.flatMap((id) => waiting.get(id) ?? [])
      const saved = await db.writeOne<{ id: string }>(gather.saveCode(saves)).catch(toNone)
      return new Map(saved.map(({ id }) => [id, true]))
    },
    { keysMax: limits.savedMax },
  )
  return async (save) => {
    waiting.set(save.valId, save)
    try {
      return (await write(save.valId)) ?? false
    } finally {
      waiting.delete(save.valId)
    }
  }
}

/** Each of the saves is made alone then, so that only the one at fault fails. */
function toNone(error: unknown): readonly never[] {
  if (error instanceof ConstraintError || error instanceof LockTimeout) return []
  throw error
}

/** The same for a script, of which nothing is left, whatever the error. */
function unlessUnavailable(error: unknown): readonly never[] {
  if (isUnavailable(error)) throw error
  return []
}

/** What has become of a save: the error is what its rule has thrown. */
type Outcome = { readonly saved: SavedVal } | { readonly error: unknown }

/** Saves that share a script. */
interface Batch {
  readonly wanted: Map<string, Wanted>
  readonly outcomes: Promise<ReadonlyMap<string, Outcome>>
}

/**
 * Where transactions run one at a time: a script that reads and writes all that came before it begins.
 * Owners have scripts of their own, since a script waits for the turn of the one who begins it.
 */
function createScriptSave(db: Database): Save {
  const openOf = new Map<string | undefined, Batch>()
  const begin = (owner: string | undefined): Batch => {
    const wanted = new Map<string, Wanted>()
    const close = () => {
      if (openOf.get(owner)?.wanted === wanted) openOf.delete(owner)
    }
    const script = () => {
      close()
      return saveAll(db.dialect, wanted)
    }
    // A write that is refused never runs the script.
    const written = db.write(script).finally(close)
    return {
      wanted,
      outcomes: written.catch(unlessUnavailable).then((outcomes) => new Map(outcomes)),
    }
  }
  return async (id, wanted) => {
    const work = currentWork()
    const owner = work?.owner
    const startMs = performance.now()
    const open = openOf.get(owner)
    // The script after it finds what this one has made of the val.
    const isJoined = open !== undefined && !open.wanted.has(id)
    const batch = isJoined ? open : begin(owner)
    batch.wanted.set(id, wanted)
    if (batch.wanted.size === limits.savedMax) openOf.delete(owner)
    else openOf.set(owner, batch)
    // The request that begins a script has its time noted by the database.
    const noteWait = () => {
      if (isJoined) work?.noteWait("database", startMs)
    }
    const outcomes = await batch.outcomes.finally(noteWait)
    const outcome = outcomes.get(id)
    if (outcome && "error" in outcome) throw outcome.error
    return outcome?.saved
  }
}

function* saveAll(
  dialect: Dialect,
  wanted: ReadonlyMap<string, Wanted>,
): Script<readonly (readonly [id: string, Outcome])[]> {
  const found = yield* rows<ChangeableRow>(selectAny(dialect, [...wanted.keys()]))
  const outcomes: (readonly [id: string, Outcome])[] = []
  for (const row of found) {
    const before = toChangeable(row)
    const one = wanted.get(row.id) as Wanted
    try {
      one.assert(before.val)
    } catch (error) {
      outcomes.push([row.id, { error }])
      continue
    }
    const decision = decide(before, one)
    if (decision?.save) yield* writeCode(dialect, decision.save)
    const locked = { ...before, locks: allLocked }
    const saved =
      decision?.saved ?? (yield* changeVal(dialect, locked, one.change, one.at, one.depth))
    outcomes.push([row.id, { saved }])
  }
  return outcomes
}

function* writeCode(dialect: Dialect, save: CodeSave): Script<void> {
  const { valId: id, ownerId, version, savedAt, code, entry, readmeSince = null } = save
  yield sql`update branches set version = ${version}, version_last = ${version}, updated_at = ${savedAt},
    entry_type = ${entry.type}, bytes = bytes + ${Buffer.byteLength(code)} where id = ${id}`
  yield sql`insert into versions (branch_id, version, created_at, author_id, entry_path, entry_since, readme_since)
    values (${id}, ${version}, ${savedAt}, ${ownerId}, ${entry.path}, ${version}, ${readmeSince})`
  yield sql`insert into states (branch_id, path, since, file_id, type, created_at, content)
    values (${id}, ${entry.path}, ${version}, ${entry.fileId}, ${entry.type}, ${savedAt}, ${code})`
  yield { key: id, run: () => dialect.search.replace(save.searchText) }
}

function toSave(
  { val, main }: ChangeableVal,
  entry: FileState & { readonly type: string },
  after: Val,
): CodeSave {
  const { ownerId, name, privacy, description } = val
  const { version, versionCreatedAt: savedAt, code } = after
  return {
    ...{ valId: val.id, ownerId, version, savedAt, code },
    before: { name, privacy, description, version: val.version, versionLast: main.versionLast },
    entry: { path: entry.path, fileId: entry.fileId, type: entry.type },
    readmeSince: main.readme?.since,
    searchText: toSearchText(after),
  }
}
