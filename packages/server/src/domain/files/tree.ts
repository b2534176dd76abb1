import type { fileType } from "@hamlet/contract"
import { findEntryFile, readmePath } from "@hamlet/contract/entry-file"
import { isInside, toParentPath } from "@hamlet/contract/file-paths"
import type { z } from "zod"

/** What a file is; a directory is one too. */
export type FileType = z.infer<typeof fileType>

/** A path of a branch in a version. Without a type, the path has ended. */
export interface PathState {
  readonly path: string
  /** The version in which it became what it is. */
  readonly since: number
  readonly fileId: string
  readonly type: FileType | null
  readonly updatedAt: number
  /** The size of its text; 0 for a directory. */
  readonly bytes: number
}

/** A file or directory of a version. Each directory that a file is in has an entry of its own. */
export interface TreeFile extends PathState {
  readonly type: FileType
}

/** The files of a version. */
export type Tree = ReturnType<typeof createTree>

/** Creates the tree of the paths that a branch has or had in a version. */
export function createTree(states: readonly PathState[]) {
  const files = states.filter(isFile).sort(byPath)
  const byName = new Map(files.map((file) => [file.path, file]))
  let ended: Set<string> | undefined
  return {
    /** All files and directories, by path. */
    files,
    /** All paths, with those that have ended. */
    states,
    find: (path: string): TreeFile | undefined => byName.get(path),
    /**
     * What the path shows: a file itself, the entries of a directory or all that it contains. The root
     * always exists; undefined for another path that does not.
     */
    list(path: string, isRecursive: boolean): readonly TreeFile[] | undefined {
      const file = byName.get(path)
      if (path !== "" && !file) return undefined
      if (file && file.type !== "directory") return [file]
      return files.filter((one) =>
        isRecursive ? isInside(one.path, path) : toParentPath(one.path) === path,
      )
    },
    /** Whether there was something at the path in an earlier version, and is no longer. */
    hadPath(path: string): boolean {
      ended ??= new Set(
        states.flatMap((state) => (isFile(state) ? [] : [...listPaths(state.path)])),
      )
      return ended.has(path)
    },
  }
}

/** The entry file of a branch. */
export function findEntry<File extends Pick<TreeFile, "path" | "fileId" | "type">>(
  files: readonly File[],
  branchId: string,
): File | undefined {
  return findEntryFile(
    files,
    files.find(({ fileId }) => fileId === branchId),
  )
}

/**
 * The entry file after a change. One that the rule would not have chosen was written through `/v1`,
 * and stays the entry file while it exists.
 */
export function findNextEntry<File extends Pick<TreeFile, "path" | "fileId" | "type">>(
  before: Tree,
  branch: { readonly id: string; readonly entryFileId: string | null },
  files: readonly File[],
): File | undefined {
  const isChosen = findEntry(before.files, branch.id)?.fileId !== branch.entryFileId
  const kept =
    isChosen &&
    files.find(({ fileId, path }) => fileId === branch.entryFileId && path !== readmePath)
  return kept || findEntry(files, branch.id)
}

/** Whether the text of such a file is code, which may import. */
export function isCode(type: FileType | null): boolean {
  return type !== null && type !== "file" && type !== "directory"
}

/** A path and those of the directories that it is in. */
function* listPaths(path: string): Generator<string> {
  for (let one = path; one !== ""; one = toParentPath(one)) yield one
}

function isFile(state: PathState): state is TreeFile {
  return state.type !== null
}

/** Paths are ASCII, so that both databases have the same order. */
function byPath(left: TreeFile, right: TreeFile): number {
  return left.path < right.path ? -1 : 1
}
