import type { Cursor, CursorKeys, fileDifference } from "@hamlet/contract"
import { foreignCursor } from "@hamlet/database/page"
import type { Caller } from "../access/caller.ts"
import type { Stored } from "../records/stored.ts"
import type { Files } from "./files.ts"
import type { TreeFile } from "./tree.ts"

/** A file that differs between two versions of a branch. */
export type FileDifference = Stored<typeof fileDifference>

/** What a branch is compared with. */
export interface ComparedWith {
  /** A version of the other branch, or of the branch itself. */
  readonly version?: number | undefined
  readonly otherId?: string | undefined
  /** The place after which the page begins. */
  readonly cursor?: Cursor | undefined
}

/** A difference with the cursor of what comes after it. */
export interface ListedDifference {
  readonly difference: FileDifference
  toCursor(): CursorKeys
}

/** The rules of differences. */
export type Differences = ReturnType<typeof createDifferences>

/** Creates the rules of differences. */
export function createDifferences(files: Files) {
  const getOther = async (
    caller: Caller | undefined,
    valId: string,
    branchId: string,
    version: number | undefined,
  ) => {
    const { tree } = await files.getTree(caller, valId, { branchId, version })
    return { branchId, tree, origins: new Map<string, string>() }
  }
  /**
   * The origins of files of two branches: either may be a copy of the other, or both of a third.
   */
  const getOrigins = async (branchId: string, otherId: string) => {
    const bases = await Promise.all([branchId, otherId].map(files.getBase))
    return new Map(bases.flatMap(({ origins }) => [...origins]))
  }
  return {
    /**
     * What has changed on a branch since one of its versions, or compared with another branch. By
     * default it is compared with what it last had in common with its parent: this is what a merge
     * takes over. All pages are of the version of the first one, whatever is saved meanwhile.
     */
    async list(
      caller: Caller | undefined,
      valId: string,
      branchId: string,
      { version, otherId, cursor }: ComparedWith = {},
    ): Promise<AsyncGenerator<ListedDifference>> {
      const begin = toPosition(cursor)
      const after = await files.getTree(caller, valId, { branchId, version: begin?.version })
      const before =
        version === undefined && otherId === undefined
          ? await files.getBase(branchId)
          : await getOther(caller, valId, otherId ?? branchId, version)
      const isOneBranch = before.branchId === branchId
      const isOther = otherId !== undefined && !isOneBranch
      const origins = isOther ? await getOrigins(branchId, otherId) : before.origins
      const byId = pairFiles(before.tree.files, after.tree.files, origins)
      const pairs = isOther ? pairByPath(byId) : byId
      const read = (id: string, file: TreeFile | undefined) =>
        file ? files.readText(id, file) : Promise.resolve(null)
      // One text at a time: together they may be 20 MB.
      return (async function* () {
        for (const pair of pairs) {
          if (begin && !isBehind(pair, begin)) continue
          if (isOneBranch && pair.before?.since === pair.after?.since) continue
          const texts = {
            before: await read(before.branchId, pair.before),
            after: await read(branchId, pair.after),
          }
          if (isOneBranch || !isSame(pair, texts))
            yield {
              difference: { ...toKind(pair), ...texts },
              toCursor: () => [after.version, toPath(pair), toRank(pair)],
            }
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

/** A file that was made on both branches at one path is one file. */
function pairByPath(pairs: readonly FilePair[]): readonly FilePair[] {
  const added = new Map(
    pairs.flatMap(({ before, after }) => (after && !before ? [[after.path, after] as const] : [])),
  )
  const taken = new Set<TreeFile>()
  const paired = pairs.map((pair): FilePair => {
    const after = pair.before && !pair.after ? added.get(pair.before.path) : undefined
    if (!after) return pair
    taken.add(after)
    return { before: pair.before, after }
  })
  return paired.filter(({ before, after }) => before || !after || !taken.has(after))
}

function byPath(left: FilePair, right: FilePair): number {
  if (toPath(left) === toPath(right)) return toRank(left) - toRank(right)
  return toPath(left) < toPath(right) ? -1 : 1
}

/** At one path there may be a file that has gone, or has moved away, and one that was added. */
function toRank({ before }: FilePair): number {
  return before ? 0 : 1
}

/** Where a page begins: behind a file, in the difference of a version. */
interface Position {
  readonly version: number
  readonly path: string
  readonly rank: number
}

function toPosition(cursor: Cursor | undefined): Position | undefined {
  if (!cursor) return undefined
  const [version, path, rank] = cursor.keys
  if (typeof version === "number" && typeof path === "string" && typeof rank === "number")
    return { version, path, rank }
  throw foreignCursor()
}

function isBehind(pair: FilePair, { path, rank }: Position): boolean {
  return toPath(pair) > path || (toPath(pair) === path && toRank(pair) > rank)
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
