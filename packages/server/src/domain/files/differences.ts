import type { Caller } from "../access.ts"
import type { Files } from "./files.ts"
import type { TreeFile } from "./tree.ts"

/** A file that differs between two versions of a branch. */
export interface FileDifference {
  readonly path: string
  /** Of a file that was moved. */
  readonly newPath: string | null
  readonly kind: "added" | "changed" | "moved" | "deleted"
  /** The texts; null where the file does not exist. */
  readonly before: string | null
  readonly after: string | null
}

/** The rules of differences. */
export type Differences = ReturnType<typeof createDifferences>

/** Creates the rules of differences. */
export function createDifferences(files: Files) {
  return {
    /**
     * What has changed on a branch since a version. By default that is version 0: the copy of the
     * branch that it was made from.
     */
    async list(
      caller: Caller | undefined,
      valId: string,
      branchId: string,
      version = 0,
    ): Promise<AsyncGenerator<FileDifference>> {
      const before = await files.getTree(caller, valId, { branchId, version })
      const after = await files.getTree(caller, valId, { branchId })
      const pairs = pairFiles(before.tree.files, after.tree.files)
      const read = (file: TreeFile | undefined) =>
        file ? files.readText(branchId, file) : Promise.resolve(null)
      // One text at a time: together they may be 20 MB.
      return (async function* () {
        for (const pair of pairs) {
          const texts = { before: await read(pair.before), after: await read(pair.after) }
          yield { ...toKind(pair), ...texts }
        }
      })()
    },
  }
}

/** A file before and after; at least one of the two exists. */
interface FilePair {
  readonly before: TreeFile | undefined
  readonly after: TreeFile | undefined
}

/** The files that differ, by path. Directories have no text, and are left out. */
function pairFiles(before: readonly TreeFile[], after: readonly TreeFile[]): readonly FilePair[] {
  const isFile = ({ type }: TreeFile) => type !== "directory"
  const now = new Map(after.filter(isFile).map((file) => [file.fileId, file]))
  const pairs: FilePair[] = before.filter(isFile).map((file) => {
    const pair = { before: file, after: now.get(file.fileId) }
    now.delete(file.fileId)
    return pair
  })
  const added = [...now.values()].map((file) => ({ before: undefined, after: file }))
  return [...pairs, ...added]
    .filter((pair) => pair.before?.since !== pair.after?.since)
    .sort(byPath)
}

function byPath(left: FilePair, right: FilePair): number {
  return toPath(left) < toPath(right) ? -1 : 1
}

function toPath({ before, after }: FilePair): string {
  return before?.path ?? after?.path ?? ""
}

function toKind(pair: FilePair): Pick<FileDifference, "path" | "newPath" | "kind"> {
  const path = toPath(pair)
  const { before, after } = pair
  if (!before) return { path, newPath: null, kind: "added" }
  if (!after) return { path, newPath: null, kind: "deleted" }
  return after.path === path
    ? { path, newPath: null, kind: "changed" }
    : { path, newPath: after.path, kind: "moved" }
}
