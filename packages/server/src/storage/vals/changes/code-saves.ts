import type { AssertVal, SavedVal, Val, ValChange } from "../../../domain/vals/vals.ts"
import { findOnce } from "../../../shared/once.ts"
import { createBatchLookup } from "../../database/batch-lookups.ts"
import type { Database } from "../../database/database.ts"
import type { CodeSave, Gather } from "../../database/dialect.ts"
import { ConstraintError, LockTimeout } from "../../database/errors.ts"
import type { FileState } from "../../files/branch-rows.ts"
import { planChange, toSearchText } from "./change-val.ts"
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
   * Saves the code together with that of other requests, in two statements: one reads the vals, one
   * writes what has become of them. Undefined if nothing was written, because the change needs more or
   * another one came first: then a transaction makes it.
   */
  save(id: string, change: ValChange, assert: AssertVal, at: number): Promise<SavedVal | undefined>
}

/** Undefined where round trips cost no time. */
export function createCodeSaves(db: Database): CodeSaves | undefined {
  const { gather } = db.dialect
  if (!gather) return undefined
  const find = createFind(db, gather)
  const write = createWrite(db, gather)
  const save: CodeSaves["save"] = async (id, change, assert, at) => {
    const found = await find(id)
    const entry = found?.main.entry
    if (!found || !entry || needsMore(found)) return undefined
    assert(found.val)
    const { after, isNewVersion } = planChange(found, change, at)
    if (isNewVersion && !(await write(toSave(found, entry, after)))) return undefined
    const val = isNewVersion ? after : found.val
    return { val, isNewVersion, isNewCode: isNewVersion, isRemote: false }
  }
  /** The last save of each val that is being saved: the next one waits, or it would find the val changed. */
  const lastOf = new Map<string, Promise<unknown>>()
  return {
    async save(id, change, assert, at) {
      if (!isCodeAlone(change) || findOnce()) return undefined
      const begin = () => save(id, change, assert, at)
      const saving = lastOf.get(id)?.then(begin) ?? begin()
      const settled = saving.catch(() => {})
      lastOf.set(id, settled)
      try {
        return await saving
      } finally {
        if (lastOf.get(id) === settled) lastOf.delete(id)
      }
    },
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

function createFind(db: Database, gather: Gather) {
  return createBatchLookup<string, ChangeableVal>(
    async (ids) => {
      const found = await db.read<ChangeableRow>`
        ${selectChangeable} where ${gather.isAnyId("v.id", ids)}`
      return new Map(found.map((row) => [row.id, toChangeable(row)]))
    },
    { keysMax: limits.readMax },
  )
}

/** Returns whether the val was saved. */
function createWrite(db: Database, gather: Gather): (save: CodeSave) => Promise<boolean> {
  const waiting = new Map<string, CodeSave>()
  const write = createBatchLookup<string, true>(
    async (ids) => {
      try {
        const saves = ids.flatMap((id) => waiting.get(id) ?? [])
        const saved = await db.writeOne<{ id: string }>(gather.saveCode(saves))
        return new Map(saved.map(({ id }) => [id, true]))
      } catch (error) {
        // Each of them is saved alone, so that only the one at fault fails.
        if (error instanceof ConstraintError || error instanceof LockTimeout) return new Map()
        throw error
      }
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
    searchBody: toSearchText(after).body,
  }
}
