import type { Output } from "@hamlet/contract/client"
import type { ListedFile } from "../files/load-files.ts"

/** How a file has changed. */
export type ChangeKind = Output<"getBranchDifference">["data"][number]["kind"]

/** A file that differs between two sets of files. */
export interface ComparedFile {
  /** Where it was; of an added file, where it is. */
  readonly path: string
  /** Where a moved file is now; null if it was not moved. */
  readonly newPath: string | null
  readonly kind: ChangeKind
}

/** The texts of a file; empty where it does not exist. */
export interface FileTexts {
  readonly before: string
  readonly after: string
}

/**
 * The files that differ between two versions of a branch, by path. A file keeps its id when it is
 * edited or moved, and knows the version in which it last changed: no text is needed.
 */
export function compareFiles(
  before: readonly ListedFile[],
  after: readonly ListedFile[],
): readonly ComparedFile[] {
  const isFile = ({ type }: ListedFile) => type !== "directory"
  const now = new Map(after.filter(isFile).map((file) => [file.id, file]))
  const compared = before.filter(isFile).flatMap((file): ComparedFile[] => {
    const found = now.get(file.id)
    now.delete(file.id)
    const { path } = file
    if (!found) return [{ path, newPath: null, kind: "deleted" }]
    if (found.path !== path) return [{ path, newPath: found.path, kind: "moved" }]
    return found.version === file.version ? [] : [{ path, newPath: null, kind: "changed" }]
  })
  const added = [...now.values()].map(
    ({ path }): ComparedFile => ({ path, newPath: null, kind: "added" }),
  )
  return joinReplaced([...compared, ...added]).sort((one, other) =>
    one.path < other.path ? -1 : 1,
  )
}

/** A file that was deleted and made again at its path has changed, for a reader. */
function joinReplaced(files: readonly ComparedFile[]): ComparedFile[] {
  const paths = (kind: ChangeKind) =>
    new Set(files.flatMap((file) => (file.kind === kind ? [file.path] : [])))
  const [added, deleted] = [paths("added"), paths("deleted")]
  return files.flatMap((file): ComparedFile[] => {
    if (file.kind === "deleted" && added.has(file.path)) return [{ ...file, kind: "changed" }]
    return file.kind === "added" && deleted.has(file.path) ? [] : [file]
  })
}

/** Where a file is afterwards, or was last. */
export function toShownPath({ path, newPath }: ComparedFile): string {
  return newPath ?? path
}

const kinds: readonly ChangeKind[] = ["added", "changed", "moved", "deleted"]

/** "2 files changed", or "3 files: 1 added, 2 changed". */
export function summarize(files: readonly Pick<ComparedFile, "kind">[]): string {
  const noun = `${files.length} ${files.length === 1 ? "file" : "files"}`
  const counts = kinds.flatMap((kind) => {
    const count = files.filter((file) => file.kind === kind).length
    return count === 0 ? [] : [{ kind, count }]
  })
  const [first] = counts
  return counts.length === 1 && first
    ? `${noun} ${first.kind}`
    : `${noun}: ${counts.map(({ kind, count }) => `${count} ${kind}`).join(", ")}`
}
