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
     * What has changed on a branch since one of its versions. By default it is compared with what it
     * last had in common with its parent: this is what a merge takes over.
     */
    async list(
      caller: Caller | undefined,
      valId: string,
      branchId: string,
      version?: number,
    ): Promise<AsyncGenerator<FileDifference>> {
      const after = await files.getTree(caller, valId, { branchId })
      const before =
        version === undefined
          ? await files.getBase(branchId)
          : { branchId, ...(await files.getTree(caller, valId, { branchId, version })) }
      const isOneBranch = before.branchId === branchId
      const origins = "origins" in before ? before.origins : new Map<string, string>()
      const pairs = pairFiles(before.tree.files, after.tree.files, origins)
      const read = (id: string, file: TreeFile | undefined) =>
        file ? files.readText(id, file) : Promise.resolve(null)
      // One text at a time: together they may be 20 MB.
      return (async function* () {
        for (const pair of pairs) {
          if (isOneBranch && pair.before?.since === pair.after?.since) continue
          const texts = {
            before: await read(before.branchId, pair.before),
            after: await read(branchId, pair.after),
          }
          if (isOneBranch || !isSame(pair, texts)) yield { ...toKind(pair), ...texts }
        }
      })()
    },
  }
}

/** Files of two branches have nothing to tell by that they are the same. */
function isSame(
  { before, after }: FilePair,
  texts: Pick<FileDifference, "before" | "after">,
): boolean {
  return (
    before?.path === after?.path && before?.type === after?.type && texts.before === texts.after
  )
}

/** A file before and after; at least one of the two exists. */
interface FilePair {
  readonly before: TreeFile | undefined
  readonly after: TreeFile | undefined
}

/** The files of both, by path. Directories have no text, and are left out. */
function pairFiles(
  before: readonly TreeFile[],
  after: readonly TreeFile[],
  origins: ReadonlyMap<string, string>,
): readonly FilePair[] {
  const isFile = ({ type }: TreeFile) => type !== "directory"
  const keyOf = ({ fileId }: TreeFile) => origins.get(fileId) ?? fileId
  const now = new Map(after.filter(isFile).map((file) => [keyOf(file), file]))
  const pairs: FilePair[] = before.filter(isFile).map((file) => {
    const pair = { before: file, after: now.get(keyOf(file)) }
    now.delete(keyOf(file))
    return pair
  })
  const added = [...now.values()].map((file) => ({ before: undefined, after: file }))
  return [...pairs, ...added].sort(byPath)
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
