import type { Caller } from "../access.ts"
import { AppError } from "../app-error.ts"
import type { Page, PageRequest } from "../paging.ts"
import { canSee, type Vals } from "../vals/vals.ts"
import { versionNotFound } from "../vals/versions.ts"
import type { Branch, Branches, BranchOfVal } from "./branches.ts"
import { fileNotFound } from "./change-tree.ts"
import { createTree, type PathState, type Tree, type TreeFile } from "./tree.ts"

/** A file with the version of a branch in which it was read. */
export interface FileOfVal extends BranchOfVal {
  readonly file: TreeFile
  readonly version: number
}

/** The files of a branch in one version. */
export interface VersionFiles extends BranchOfVal {
  readonly version: number
  readonly tree: Tree
}

/** Where a file is: on `main` without a branch, in the newest version without a number. */
export interface FilePlace {
  readonly path: string
  readonly branchId?: string | undefined
  readonly version?: number | undefined
}

/** Where files are kept. */
export interface FileStore {
  /** The paths of a branch in a version, with those that had ended by then. */
  listPaths(branchId: string, version: number): Promise<readonly PathState[]>
  hasVersion(branchId: string, version: number): Promise<boolean>
  /** The text of a state. */
  findText(branchId: string, path: string, since: number): Promise<string | undefined>
  /** The newest state of a file that was not deleted. */
  findFile(
    fileId: string,
  ): Promise<{ readonly branch: Branch; readonly file: TreeFile } | undefined>
}

/** The rules of files. */
export type Files = ReturnType<typeof createFiles>

/** Creates the rules of files. A file is visible exactly if its val is. */
export function createFiles(store: FileStore, vals: Vals, branches: Branches) {
  /** The files of a version. A number above the newest means the newest, as clients expect. */
  const getTree = async (
    caller: Caller | undefined,
    valId: string,
    { branchId, version }: Pick<FilePlace, "branchId" | "version">,
  ): Promise<VersionFiles> => {
    const found = await branches.get(caller, valId, branchId)
    const newest = found.branch.version
    const shown = Math.min(version ?? newest, newest)
    const isShown =
      shown === newest || shown === 0 || (await store.hasVersion(found.branch.id, shown))
    if (!isShown) throw versionNotFound(shown)
    const tree = createTree(await store.listPaths(found.branch.id, shown))
    return { ...found, version: shown, tree }
  }
  return {
    getTree,
    /** A page of what a path shows: a file itself, or what a directory contains, by path. */
    async list(
      caller: Caller | undefined,
      valId: string,
      place: FilePlace & { readonly isRecursive: boolean },
      page: PageRequest,
    ): Promise<Page<FileOfVal>> {
      const found = await getTree(caller, valId, place)
      const listed = found.tree.list(place.path, place.isRecursive)
      if (!listed) throw fileNotFound(place.path)
      const { offset, limit } = page
      const items = listed.slice(offset, offset + limit).map((file) => ({ ...found, file }))
      return { items, hasMore: listed.length > offset + limit }
    },
    /** The newest state of a file. */
    async get(caller: Caller | undefined, fileId: string): Promise<FileOfVal> {
      const found = await store.findFile(fileId)
      const val = found && (await vals.findById(found.branch.valId))
      if (!found || !val || !canSee(val, caller))
        throw new AppError("file_not_found", `Cannot find file "${fileId}"`)
      return { ...found, val, version: found.branch.version }
    },
    /** The text of a file. */
    async getContent(
      caller: Caller | undefined,
      valId: string,
      place: FilePlace,
    ): Promise<{ readonly file: TreeFile; readonly text: string }> {
      const { branch, tree } = await getTree(caller, valId, place)
      const file = tree.find(place.path)
      const isDirectory = place.path === "" || file?.type === "directory"
      if (isDirectory)
        throw new AppError(
          "is_directory",
          `Cannot read the content of "${place.path}": it is a directory`,
        )
      const text = file && (await store.findText(branch.id, file.path, file.since))
      if (!file || text === undefined) throw fileNotFound(place.path)
      return { file, text }
    },
    /** The text of a file that was listed; empty if its version was deleted a moment ago. */
    readText: async (branchId: string, { path, since }: TreeFile): Promise<string> =>
      (await store.findText(branchId, path, since)) ?? "",
  }
}
