import { limits as wireLimits } from "@hamlet/contract"
import { findPathProblem, isInside, toParentPath } from "@hamlet/contract/file-paths"
import { guessFileType } from "@hamlet/contract/file-types"
import { AppError } from "../app-error.ts"
import type { ListPackages } from "../modules/imports/text-packages.ts"
import type { ValImport } from "../vals/val-source.ts"
import type { FileType, Tree, TreeFile } from "./tree.ts"

/** A text that a file gets, with what it imports if it is code. */
export interface NewText {
  readonly text: string
  readonly bytes: number
  readonly imports: readonly ValImport[]
  /** The packages that it imports; undefined if it is no code. */
  readonly listPackages?: ListPackages | undefined
}

/** A change of the files of a branch. Parent directories that do not exist are made. */
export type FileChange =
  | {
      readonly kind: "put"
      readonly path: string
      /** A new file without a type gets one from its name; an existing one keeps its type. */
      readonly type?: FileType | undefined
      /** Undefined for a directory. */
      readonly content?: NewText | undefined
      /** Whether the path must be free. */
      readonly isNew?: boolean
      /** The file that it is, if the path is free: one that is elsewhere, or was deleted. */
      readonly restored?: Pick<PlannedState, "fileId" | "origin">
    }
  | {
      readonly kind: "update"
      readonly path: string
      readonly newPath?: string | undefined
      readonly type?: FileType | undefined
      readonly content?: NewText | undefined
    }
  | { readonly kind: "delete"; readonly path: string; readonly isRecursive: boolean }

/** A path that a version changes. Without a type it ends. */
export interface PlannedState {
  readonly path: string
  readonly fileId: string
  readonly type: FileType | null
  /** Undefined for a directory, and where the text of the origin stays. */
  readonly content: NewText | undefined
  /** What the file was before; undefined for a new one. */
  readonly origin: TreeFile | undefined
}

/** A file as it will be, and the state that makes it so if it changes. */
export interface PlannedFile extends Omit<PlannedState, "type"> {
  readonly type: FileType
}

/** What changes make of a tree. */
export interface PlannedTree {
  /** All files and directories afterwards. */
  readonly files: readonly PlannedFile[]
  /** The paths that differ; a text may turn out to be the same as before. */
  readonly changed: readonly PlannedState[]
}

const limits = {
  files: wireLimits.filesPerVersionMax,
  directories: wireLimits.directoriesPerVersionMax,
  bytes: wireLimits.versionBytesMax,
  imports: wireLimits.importsPerVersionMax,
  importedVals: wireLimits.importedValsPerSaveMax,
  /** More than a branch needs in years: each list and each save goes through those that ended. */
  pathsPerBranchMax: 5_000,
  /** A request may move directories of 1,000 files 1,000 times. */
  movesMax: 5_000,
}

/**
 * Applies changes in order: a later one sees what the earlier ones did. Throws if one is impossible.
 * They begin with `start`: the files of the tree, or what was planned for it before.
 */
export function changeTree(
  tree: Tree,
  changes: readonly FileChange[],
  newId: () => string,
  start: readonly PlannedFile[] = tree.files.map(toPlanned),
): PlannedTree {
  const draft = createDraft(start, newId)
  for (const change of changes) {
    if (change.kind === "put") put(draft, change)
    else if (change.kind === "update") update(draft, change)
    else remove(draft, tree, change.path, change.isRecursive)
  }
  const files = draft.list()
  const changed = [...listEnds(tree, draft), ...files.filter(isChanged)]
  assertFits(tree, files, changed)
  assertImportsFit(changed)
  return { files, changed }
}

/** A file as it is. */
export function toPlanned(file: TreeFile): PlannedFile {
  const { path, fileId, type } = file
  return { path, fileId, type, content: undefined, origin: file }
}

type Change<Kind> = Extract<FileChange, { readonly kind: Kind }>
type Draft = ReturnType<typeof createDraft>

/** The files while changes are applied. */
function createDraft(start: readonly PlannedFile[], newId: () => string) {
  const files = new Map<string, PlannedFile>()
  /** The path of each file by its path in lower case. */
  const similar = new Map<string, string>()
  const removed = new Set<string>()
  let moved = 0
  const set = (file: PlannedFile) => {
    files.set(file.path, file)
    similar.set(file.path.toLowerCase(), file.path)
  }
  for (const file of start) set(file)
  return {
    set,
    get: (path: string) => files.get(path),
    list: () => [...files.values()],
    listInside: (path: string) => [...files.values()].filter((file) => isInside(file.path, path)),
    countMoved(count: number) {
      moved += count
      if (moved > limits.movesMax)
        throw new AppError(
          "invalid_request",
          `Cannot move more than ${limits.movesMax} files in one save`,
        )
    },
    delete(path: string) {
      files.delete(path)
      similar.delete(path.toLowerCase())
      removed.add(path)
    },
    hasRemoved: (path: string) => removed.has(path),
    /** Adds a file at a path that is free, with the directories that it is in. */
    add(path: string, file: Omit<PlannedFile, "path">) {
      const problem = findPathProblem(path)
      if (problem) throw invalidPath(path, problem)
      const missing: string[] = []
      for (let parent = toParentPath(path); parent !== ""; parent = toParentPath(parent)) {
        const found = files.get(parent)
        if (found?.type === "directory") break
        if (found)
          throw new AppError(
            "file_exists",
            `Cannot put "${path}" into "${parent}": that is a file, not a directory`,
          )
        missing.unshift(parent)
      }
      for (const one of [...missing, path]) {
        const other = similar.get(one.toLowerCase())
        if (other === one) throw fileExists(path)
        if (other !== undefined)
          throw new AppError(
            "file_exists",
            `Cannot create "${one}": there is "${other}", and paths must differ in more than case`,
          )
      }
      for (const one of missing)
        set({
          path: one,
          fileId: newId(),
          type: "directory",
          content: undefined,
          origin: undefined,
        })
      set({ ...file, path })
    },
    newId,
  }
}

function put(draft: Draft, { path, type, content, isNew, restored }: Change<"put">): void {
  const found = draft.get(path)
  if (!found) {
    const { fileId, origin } = restored ?? { fileId: draft.newId(), origin: undefined }
    draft.add(path, { fileId, type: type ?? guessFileType(path), content, origin })
    return
  }
  if (isNew) throw fileExists(path)
  const isDirectory = type === "directory"
  if (isDirectory !== (found.type === "directory")) throw fileExists(path)
  if (!isDirectory) draft.set({ ...found, type: type ?? found.type, content })
}

function update(draft: Draft, { path, newPath = path, type, content }: Change<"update">): void {
  const found = draft.get(path)
  if (!found) throw fileNotFound(path)
  const isDirectory = found.type === "directory"
  if (isDirectory && (content !== undefined || (type ?? "directory") !== "directory"))
    throw new AppError(
      "is_directory",
      `Cannot change "${path}": it is a directory, which has no content and no other type`,
    )
  if (!isDirectory && type === "directory")
    throw new AppError("invalid_request", `Cannot make "${path}" a directory: it is a file`)
  const changed = { ...found, type: type ?? found.type, content: content ?? found.content }
  if (newPath === path) {
    draft.set(changed)
    return
  }
  if (isInside(newPath, path))
    throw new AppError("moved_into_itself", `Cannot move "${path}" into itself`)
  const inside = isDirectory ? draft.listInside(path) : []
  draft.countMoved(inside.length + 1)
  for (const file of [found, ...inside]) draft.delete(file.path)
  draft.add(newPath, changed)
  for (const file of inside) draft.add(`${newPath}${file.path.slice(path.length)}`, file)
}

function remove(draft: Draft, tree: Tree, path: string, isRecursive: boolean): void {
  const found = draft.get(path)
  if (path !== "" && !found) {
    if (draft.hasRemoved(path) || tree.hadPath(path)) return
    throw fileNotFound(path)
  }
  const inside = found && found.type !== "directory" ? [] : draft.listInside(path)
  if (inside.length > 0 && !isRecursive)
    throw new AppError(
      "directory_not_empty",
      `Cannot delete ${path === "" ? "the root" : `"${path}"`}: it contains files; delete it with recursive=true`,
    )
  for (const file of [...inside, ...(found ? [found] : [])]) draft.delete(file.path)
}

function isChanged({ path, type, content, origin }: PlannedFile): boolean {
  return content !== undefined || origin?.path !== path || origin.type !== type
}

/** The paths at which there is nothing any more. */
function listEnds(tree: Tree, draft: Draft): readonly PlannedState[] {
  return tree.files
    .filter(({ path }) => !draft.get(path))
    .map((file) => ({
      path: file.path,
      fileId: file.fileId,
      type: null,
      content: undefined,
      origin: file,
    }))
}

/** A version may have too much already, and then get smaller. */
function assertFits(
  tree: Tree,
  files: readonly PlannedFile[],
  changed: readonly PlannedState[],
): void {
  const isDirectory = ({ type }: { readonly type: FileType | null }) => type === "directory"
  const count = (all: readonly { readonly type: FileType }[]) => {
    const directories = all.filter(isDirectory).length
    return { directories, files: all.length - directories }
  }
  const [before, after] = [count(tree.files), count(files)]
  const bytesBefore = tree.files.reduce((sum, file) => sum + file.bytes, 0)
  const bytes = files.reduce(
    (sum, { content, origin }) => sum + ((content ?? origin)?.bytes ?? 0),
    0,
  )
  const added = changed.filter(({ path, type }) => type !== null && !tree.find(path)).length
  const assert = (now: number, earlier: number, max: number, what: string) => {
    if (now > max && now > earlier)
      throw new AppError("val_full", `Cannot save ${what}: a version may have ${max}`)
  }
  assert(after.files, before.files, limits.files, `${after.files} files`)
  assert(
    after.directories,
    before.directories,
    limits.directories,
    `${after.directories} directories`,
  )
  assert(bytes, bytesBefore, limits.bytes, `${bytes} bytes of text`)
  if (added > 0 && tree.states.length + added > limits.pathsPerBranchMax)
    throw new AppError(
      "val_full",
      `Cannot add files: the branch has had ${limits.pathsPerBranchMax} paths in all its versions; delete old versions, or use another branch`,
    )
}

/** Each import is a row, and each val that is imported is locked. */
function assertImportsFit(changed: readonly PlannedState[]): void {
  const imports = changed.reduce((sum, { content }) => sum + (content?.imports.length ?? 0), 0)
  if (imports > limits.imports) throw tooManyImports(imports)
  const names = new Set<string>()
  for (const { content } of changed)
    for (const { username, name } of content?.imports ?? []) names.add(`${username}/${name}`)
  if (names.size > limits.importedVals)
    throw new AppError(
      "val_full",
      `Cannot save imports of ${names.size} vals: a save may have ${limits.importedVals}`,
    )
}

/** The error for a version whose files would import other vals too often. */
export function tooManyImports(count: number): AppError {
  return new AppError(
    "val_full",
    `Cannot save ${count} imports of vals: the files of a version may have ${limits.imports} together`,
  )
}

function invalidPath(path: string, problem: string): AppError {
  return new AppError("invalid_request", `Cannot use the path "${path}": it ${problem}`, {
    issues: [{ path: "path", message: problem }],
  })
}

function fileExists(path: string): AppError {
  return new AppError("file_exists", `Cannot create "${path}": there is something at that path`)
}

/** The error for a path at which there is nothing. */
export function fileNotFound(path: string): AppError {
  return new AppError("file_not_found", `Cannot find "${path}": there is nothing at that path`)
}
