import { isConfigPath, listConfigWarnings, readConfig } from "@hamlet/contract/deno-json"
import { guessFileType } from "@hamlet/contract/file-types"
import { listTargets } from "@hamlet/contract/import-map"
import type { SavedText } from "@hamlet/sandbox"
import { type Caller, type CodeOwner, forOwnerOf } from "../access/caller.ts"
import { assertMayChange, valNotFound } from "../access/rights.ts"
import { AppError } from "../app-error.ts"
import type { Clock } from "../clock.ts"
import type { ImportHosts } from "../modules/import-address.ts"
import type { LockfileWork } from "../modules/lockfiles.ts"
import type { Retirer } from "../runs/retirement.ts"
import type { Schedule } from "../schedules/schedules.ts"
import type { Timing } from "../schedules/timing.ts"
import type { Sources, ValSource } from "../vals/val-source.ts"
import { type Val, type Vals, VersionConflict } from "../vals/vals.ts"
import { type Branch, type BranchOfVal, branchNotFound } from "./branches.ts"
import {
  changeTree,
  type FileChange,
  fileNotFound,
  type NewText,
  type PlannedTree,
} from "./change-tree.ts"
import type { FileOfVal, Files } from "./files.ts"
import type { MergeSides } from "./merge-trees.ts"
import { type FileType, isCode, type Tree, type TreeFile } from "./tree.ts"

/** A save of files. */
export interface FileSave {
  readonly valId: string
  readonly branchId: string
  readonly note?: string | undefined
  /** What the new texts import; undefined if the files import the same as before. */
  readonly imports: NewText["imports"] | undefined
  readonly importHosts: ImportHosts
  /** Files come back or in, with what they had elsewhere: their schedules do not run at once. */
  readonly isRestore?: boolean | undefined
  /** The branch that is merged with its parent: one of the two is changed, the other one is read. */
  readonly mergedId?: string | undefined
  /**
   * Decides what changes. It is called inside the transaction with the files as they are then,
   * perhaps more than once.
   */
  plan(val: Val, branch: Branch, tree: Tree, sides: MergeSides | undefined): PlannedSave
}

/** What changes, and which files of a merged branch are copies of which files of its parent. */
export interface PlannedSave extends PlannedTree {
  readonly links?: readonly FileLink[]
}

/** A file of a branch, and the file of the parent that it is a copy of. */
export interface FileLink {
  readonly fileId: string
  readonly originId: string
}

/** The result of a save. */
export interface SavedFiles extends BranchOfVal {
  readonly isNewVersion: boolean
  /** The paths that have changed, also those that have ended. */
  readonly paths: readonly string[]
  /** The files and directories that were written, as they are now. */
  readonly written: readonly TreeFile[]
  /** The schedules that files of type interval have got. */
  readonly schedules: readonly AddedSchedule[]
  /** Whether packages must be fetched. */
  readonly isRemote: boolean
}

/** A schedule that a save has added. */
export interface AddedSchedule
  extends Timing,
    Pick<Schedule, "isPaused" | "pausedReason" | "nextAt"> {
  readonly fileId: string
}

/** The result of a save, for its author. */
export interface CheckedFiles extends SavedFiles {
  /** What is wrong with what was saved, as sentences. */
  readonly warnings: readonly string[]
}

/** One file that was saved, for its author. */
export interface CheckedFile extends FileOfVal, Pick<CheckedFiles, "warnings" | "schedules"> {}

/** Where files are saved. */
export interface FileSaveStore {
  /** All or nothing, in one version. Says which of the two does not exist. */
  save(save: FileSave, at: number): Promise<SavedFiles | "no_val" | "no_branch">
}

/** A change as a client sends it. */
export type FileChangeInput =
  | {
      readonly kind: "put"
      readonly path: string
      readonly type?: FileType | undefined
      readonly content?: string | null | undefined
      readonly isNew?: boolean
    }
  | {
      readonly kind: "update"
      readonly path: string
      readonly newPath?: string | undefined
      readonly type?: FileType | undefined
      readonly content?: string | undefined
    }
  | { readonly kind: "delete"; readonly path: string; readonly isRecursive: boolean }

/** How files are saved. */
interface SaveOptions {
  readonly ifMatch?: number | undefined
  readonly note?: string | undefined
  /** Whether the files come from elsewhere, where their schedules run. */
  readonly isImport?: boolean | undefined
}

/** The rules of saves. */
export type FileSaves = ReturnType<typeof createFileSaves>

interface FileSavesParts {
  readonly store: FileSaveStore
  readonly vals: Vals
  readonly files: Files
  readonly sources: Sources
  readonly runner: Retirer
  readonly lockfileWork: LockfileWork
  readonly clock: Clock
}

/** Creates the rules of saves. The owner of a val may change its files. */
export function createFileSaves({
  store,
  vals,
  files,
  sources,
  runner,
  lockfileWork,
  clock: { newId, now },
}: FileSavesParts) {
  /** Applies many changes in one version, or none of them. */
  const save = async (
    caller: Caller,
    valId: string,
    branchId: string | undefined,
    inputs: readonly FileChangeInput[],
    options: SaveOptions = {},
  ): Promise<CheckedFiles> => {
    const val = await vals.get(caller, valId)
    assertMayChange(val, caller)
    const changes = await readChanges(sources, forOwnerOf(val, caller), val.name, inputs)
    const saved = await store.save(
      {
        valId,
        branchId: branchId ?? valId,
        note: options.note,
        isRestore: options.isImport,
        importHosts: sources.importHosts,
        imports: changes.some(mayChangeImports)
          ? changes.flatMap((one) => (one.kind !== "delete" && one.content?.imports) || [])
          : undefined,
        plan(current, branch, tree) {
          assertMayChange(current, caller)
          assertVersion(branch, options.ifMatch)
          return changeTree(tree, changes, newId)
        },
      },
      now(),
    )
    if (saved === "no_branch") throw branchNotFound(branchId ?? valId)
    const done = finish(saved, valId)
    if (done.isNewVersion) runner.prepare?.(val.ownerId, changes.flatMap(toSavedText))
    return { ...done, warnings: listWarnings(inputs) }
  }
  /** What follows from a save. */
  const finish = (saved: SavedFiles | "no_val", valId: string): SavedFiles => {
    if (saved === "no_val") throw valNotFound(valId)
    if (saved.isNewVersion) runner.retire({ branchId: saved.branch.id, paths: saved.paths })
    if (saved.isRemote) lockfileWork.wake()
    return saved
  }
  return {
    save,
    finish,
    /** Creates or changes one file or directory. */
    async saveOne(
      caller: Caller,
      valId: string,
      branchId: string | undefined,
      change: Exclude<FileChangeInput, { readonly kind: "delete" }>,
    ): Promise<CheckedFile> {
      const saved = await save(caller, valId, branchId, [change])
      const path = (change.kind === "update" ? change.newPath : undefined) ?? change.path
      const file = saved.written.find((one) => one.path === path)
      if (file) return { ...saved, file, version: saved.branch.version }
      // The file is as it was.
      const now = await files.getTree(caller, valId, { branchId })
      const same = now.tree.find(path)
      if (!same) throw fileNotFound(path)
      return { ...now, file: same, warnings: saved.warnings, schedules: [] }
    },
  }
}

function mayChangeImports(change: FileChange): boolean {
  if (change.kind === "delete" || isConfigPath(toNewPath(change))) return true
  return change.content !== undefined && mayBeCode({ ...change, content: change.content.text })
}

/** Code that imports packages is linked to them first, when they are fetched. */
function toSavedText(change: FileChange): readonly SavedText[] {
  if (change.kind === "delete" || !change.content) return []
  const { text, listPackages } = change.content
  const path = toNewPath({ ...change, content: text })
  return listPackages?.(path, undefined)?.length === 0 ? [{ path, code: text }] : []
}

/** Throws when the branch is not at the version that the caller expects. */
export function assertVersion(branch: Branch, ifMatch: number | undefined): void {
  if (ifMatch === undefined || branch.version === ifMatch) return
  throw new VersionConflict(`files: branch ${branch.name} is`, branch.version, ifMatch)
}

/** Parses the new texts that are code for what they import. */
export async function readChanges(
  sources: Sources,
  owner: CodeOwner,
  name: string,
  inputs: readonly FileChangeInput[],
): Promise<readonly FileChange[]> {
  const atRoot = new Set<string>()
  const nested = new Set<string>()
  const configs = new Map<string, ValSource>()
  for (const input of inputs) {
    const text = contentOf(input)
    if (text === undefined) continue
    assertText(input.path, text)
    if (mayBeCode(input)) (isNested(input) ? nested : atRoot).add(text)
    if (isConfigPath(toNewPath(input)) && !configs.has(text))
      configs.set(text, await readTargets(sources, owner, text))
  }
  const read = await sources.readMany(owner, [
    { name, codes: [...atRoot] },
    { name, codes: [...nested], isNested: true },
  ])
  const [rootSources, nestedSources] = read.map(
    (some) => new Map(some.map((source) => [source.code, source])),
  )
  return inputs.map((input): FileChange => {
    if (input.kind === "delete") return input
    const text = contentOf(input)
    if (text === undefined) return { ...input, content: undefined }
    const code = isNested(input) ? nestedSources : rootSources
    const read = isConfigPath(toNewPath(input)) ? configs : mayBeCode(input) ? code : undefined
    const { imports = [], listPackages } = read?.get(text) ?? {}
    return { ...input, content: { text, bytes: Buffer.byteLength(text), imports, listPackages } }
  })
}

/** The vals that files import by their names in the configuration: they are references of it. */
async function readTargets(sources: Sources, owner: CodeOwner, text: string): Promise<ValSource> {
  const { config } = readConfig("", text)
  return sources.readTargets(owner, text, config ? listTargets(config.map) : [])
}

/** By its name too: a file may become code later without a new text. */
function mayBeCode(input: FileChangeInput): boolean {
  if (input.kind === "delete") return false
  return isCode(input.type ?? null) || guessFileType(toNewPath(input)) === "script"
}

function isNested(input: FileChangeInput): boolean {
  return toNewPath(input).includes("/")
}

function toNewPath(input: FileChangeInput | FileChange): string {
  return (input.kind === "update" ? input.newPath : undefined) ?? input.path
}

/** What is wrong with the configuration, if the changes write it. */
function listWarnings(inputs: readonly FileChangeInput[]): readonly string[] {
  return inputs.flatMap((input) => {
    const text = contentOf(input)
    const path = toNewPath(input)
    return text === undefined ? [] : listConfigWarnings(path, text)
  })
}

function contentOf(input: FileChangeInput): string | undefined {
  return input.kind === "delete" ? undefined : (input.content ?? undefined)
}

function assertText(path: string, text: string): void {
  if (!text.includes("\0") && text.isWellFormed()) return
  throw new AppError(
    "content_not_text",
    `Cannot save "${path}": its content is not text, and only text can be stored`,
  )
}
