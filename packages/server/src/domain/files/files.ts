import type { Page, PageRequest } from "@hamlet/database/page"
import type { Caller } from "../access/caller.ts"
import { canSee } from "../access/rights.ts"
import { AppError } from "../app-error.ts"
import type { Vals } from "../vals/vals.ts"
import { versionNotFound } from "../vals/versions.ts"
import type { Branch, Branches, BranchOfVal } from "./branches.ts"
import { fileNotFound } from "./change-tree.ts"
import { createTree, type FileType, type PathState, type Tree, type TreeFile } from "./tree.ts"

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

/** A file or directory; the text of a directory is empty. */
export interface FileContent {
  readonly type: FileType
  readonly updatedAt: number
  readonly text: string
}

/** What a branch and its parent last had in common: a version of one of them. */
export interface BranchBase {
  readonly branchId: string
  /** Undefined if it was deleted, and all before it. */
  readonly version: number | undefined
  /** The file of the parent that a file of the branch is a copy of, by its id. */
  readonly origins: ReadonlyMap<string, string>
}

/** Where files are kept. */
export interface FileStore {
  /** The paths of a branch in a version, with those that had ended by then. */
  listPaths(branchId: string, version: number): Promise<readonly PathState[]>
  findBase(branchId: string): Promise<BranchBase | undefined>
  hasVersion(branchId: string, version: number): Promise<boolean>
  /** The file at a path in a version, with its text. */
  findContent(branchId: string, path: string, version: number): Promise<FileContent | undefined>
  /** The newest state of a file; of a deleted one only while the val has a recent run of it. */
  findFile(
    fileId: string,
  ): Promise<{ readonly branch: Branch; readonly file: TreeFile } | undefined>
}

/** The rules of files. */
export type Files = ReturnType<typeof createFiles>

/** Creates the rules of files. A file is visible exactly if its val is. */
export function createFiles(store: FileStore, vals: Vals, branches: Branches) {
  /** A version of a branch. A number above the newest means the newest, as clients expect. */
  const getVersion = async (
    caller: Caller | undefined,
    valId: string,
    { branchId, version }: Pick<FilePlace, "branchId" | "version">,
  ): Promise<BranchOfVal & { readonly version: number }> => {
    const found = await branches.get(caller, valId, branchId)
    const newest = found.branch.version
    const shown = Math.min(version ?? newest, newest)
    const isShown =
      shown === newest || shown === 0 || (await store.hasVersion(found.branch.id, shown))
    if (!isShown) throw versionNotFound(shown)
    return { ...found, version: shown }
  }
  /** The files of a version. */
  const getTree = async (
    caller: Caller | undefined,
    valId: string,
    place: Pick<FilePlace, "branchId" | "version">,
  ): Promise<VersionFiles> => {
    const found = await getVersion(caller, valId, place)
    return { ...found, tree: createTree(await store.listPaths(found.branch.id, found.version)) }
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
    ): Promise<FileContent> {
      const { branch, version } = await getVersion(caller, valId, place)
      const { path } = place
      const found = path === "" ? undefined : await store.findContent(branch.id, path, version)
      if (path === "" || found?.type === "directory")
        throw new AppError(
          "file_not_found",
          `Cannot read the content of "${path}": it is a directory`,
        )
      if (!found) throw fileNotFound(path)
      return found
    },
    /** What a branch and its parent had in common when the branch was made, or last merged. */
    async getBase(branchId: string): Promise<BranchBase & { readonly tree: Tree }> {
      const base = await store.findBase(branchId)
      if (base?.version === undefined)
        return { branchId, version: undefined, origins: new Map(), tree: createTree([]) }
      return { ...base, tree: createTree(await store.listPaths(base.branchId, base.version)) }
    },
    /** The text of a file that was listed; empty if its version was deleted a moment ago. */
    readText: async (branchId: string, { path, since }: TreeFile): Promise<string> =>
      (await store.findContent(branchId, path, since))?.text ?? "",
  }
}
