import type { versionChange } from "@hamlet/contract"
import { isInside } from "@hamlet/contract/file-paths"
import type { Page, PageRequest } from "@hamlet/database/page"
import { type Caller, forOwnerOf } from "../access/caller.ts"
import { assertMayChange } from "../access/rights.ts"
import { AppError } from "../app-error.ts"
import type { Clock } from "../clock.ts"
import type { Stored } from "../records/stored.ts"
import type { Sources } from "../vals/val-source.ts"
import type { Vals } from "../vals/vals.ts"
import { versionNotFound } from "../vals/versions.ts"
import { branchNotFound } from "./branches.ts"
import {
  changeTree,
  type FileChange,
  fileNotFound,
  type NewText,
  type PlannedTree,
  toPlanned,
} from "./change-tree.ts"
import {
  assertVersion,
  type FileSaveStore,
  type FileSaves,
  readChanges,
  type SavedFiles,
} from "./file-saves.ts"
import type { Files, VersionFiles } from "./files.ts"
import type { Tree, TreeFile } from "./tree.ts"

/** A version, and which paths it has changed. */
export type VersionChange = Stored<typeof versionChange>

/** A path that a version has changed. */
export type PathChange = VersionChange["changes"][number]

/** Where versions are listed. */
export interface HistoryStore {
  /** The versions of a branch, newest first; with a path, those that changed it. */
  listChanges(
    branchId: string,
    path: string | undefined,
    page: PageRequest,
  ): Promise<Page<VersionChange>>
  /** Changes the note of a version. */
  setNote(
    valId: string,
    branchId: string,
    version: number,
    note: string | null,
  ): Promise<"done" | "no_branch" | "no_version">
}

/** What is restored, and where. */
export interface RestoreInput {
  readonly branchId?: string | undefined
  readonly version: number
  /** Everything without one. */
  readonly path?: string | undefined
  readonly note?: string | undefined
  readonly ifMatch?: number | undefined
}

/** What is said about a version. */
export interface NoteInput extends Pick<RestoreInput, "branchId" | "version"> {
  readonly note: string | null
}

const limits = {
  /** Saves may come between; each attempt reads what they did. */
  attemptsMax: 10,
}

/** The rules of earlier versions. */
export type FileHistory = ReturnType<typeof createFileHistory>

/** Creates the rules of earlier versions. The owner of a val may return to them. */
export function createFileHistory(
  store: HistoryStore & FileSaveStore,
  vals: Vals,
  files: Files,
  fileSaves: FileSaves,
  sources: Sources,
  { newId, now }: Clock,
) {
  return {
    /** The versions of a branch, newest first; with a path, those that changed it. */
    async list(
      caller: Caller | undefined,
      valId: string,
      query: PageRequest & Pick<RestoreInput, "branchId" | "path">,
    ): Promise<Page<VersionChange>> {
      const { branch } = await files.getTree(caller, valId, { branchId: query.branchId })
      return store.listChanges(branch.id, query.path, query)
    },
    /** Changes what is said about a version. Its files never change. */
    async setNote(caller: Caller, valId: string, input: NoteInput): Promise<void> {
      assertMayChange(await vals.get(caller, valId), caller)
      const { branchId = valId, version, note } = input
      const result = await store.setNote(valId, branchId, version, note)
      if (result === "no_branch") throw branchNotFound(branchId)
      if (result === "no_version") throw versionNotFound(version)
    },
    /** Makes files what they were in a version, as the next version. They keep their ids. */
    async restore(caller: Caller, valId: string, input: RestoreInput): Promise<SavedFiles> {
      const val = await vals.get(caller, valId)
      assertMayChange(val, caller)
      const { branchId = valId, version, path = "" } = input
      const old = await files.getTree(caller, valId, { branchId, version })
      const restored = old.tree.files.filter((file) => isIn(file, path))
      if (restored.length === 0 && path !== "") throw fileNotFound(path)
      const texts = new Map<string, NewText>()
      for (let attempt = 1; attempt <= limits.attemptsMax; attempt++) {
        try {
          const saved = await store.save(
            {
              valId,
              branchId,
              note: input.note,
              importHosts: sources.importHosts,
              isRestore: true,
              imports: [...texts.values()].flatMap(({ imports }) => imports),
              plan(current, branch, tree) {
                assertMayChange(current, caller)
                assertVersion(branch, input.ifMatch)
                return planRestore(tree, restored, path, texts, newId)
              },
            },
            now(),
          )
          if (saved === "no_branch") throw branchNotFound(branchId)
          return fileSaves.finish(saved, valId)
        } catch (error) {
          if (!(error instanceof TextsMissing)) throw error
          const read = await readTexts(files, old, error.files)
          const changes = await readChanges(sources, forOwnerOf(val, caller), val.name, read)
          for (const change of changes)
            if (change.kind === "put" && change.content) texts.set(change.path, change.content)
        }
      }
      throw new AppError("overloaded", "Cannot restore: the files are being saved all the time")
    },
  }
}

/** Thrown by a plan that needs texts of the earlier version. The transaction has no effect. */
class TextsMissing extends Error {
  constructor(readonly files: readonly TreeFile[]) {
    super("some texts were not read yet")
  }
}

async function readTexts({ readText }: Files, old: VersionFiles, some: readonly TreeFile[]) {
  const read = []
  for (const file of some) {
    const { path, type } = file
    read.push({ kind: "put", path, type, content: await readText(old.branch.id, file) } as const)
  }
  return read
}

/** All that is at the path becomes what was there; the rest stays. */
function planRestore(
  tree: Tree,
  restored: readonly TreeFile[],
  path: string,
  texts: ReadonlyMap<string, NewText>,
  newId: () => string,
): PlannedTree {
  const others = tree.files.filter((file) => !isIn(file, path))
  const used = new Set(others.map(({ fileId }) => fileId))
  const present = new Map(tree.files.map((file) => [file.fileId, file]))
  const missing: TreeFile[] = []
  const changes = restored.map((file): FileChange => {
    const origin = used.has(file.fileId) ? undefined : present.get(file.fileId)
    const isSame = origin?.path === file.path && origin.since === file.since
    const content = texts.get(file.path)
    if (!isSame && !content && file.type !== "directory") missing.push(file)
    return {
      kind: "put",
      path: file.path,
      type: file.type,
      content: isSame ? undefined : content,
      restored: { fileId: used.has(file.fileId) ? newId() : file.fileId, origin },
    }
  })
  if (missing.length > 0) throw new TextsMissing(missing)
  return changeTree(tree, changes, newId, others.map(toPlanned))
}

function isIn(file: TreeFile, path: string): boolean {
  return path === "" || file.path === path || isInside(file.path, path)
}
