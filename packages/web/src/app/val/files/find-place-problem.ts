import { findPathProblem, isInside, toParentPath } from "@hamlet/contract/file-paths"
import type { FileType } from "./load-files.ts"

interface Placed {
  readonly path: string
  readonly type: FileType
}

/**
 * Why nothing can be put at a path, as the server would say with the next save; undefined if it can.
 * `from` is where it is now; what is inside of it moves along.
 */
export function findPlaceProblem(
  files: readonly Placed[],
  to: string,
  from?: string,
): string | undefined {
  if (to === from) return undefined
  if (from !== undefined && isInside(to, from)) return `Cannot move "${from}" into itself`
  const isMoved = ({ path }: Placed) =>
    from !== undefined && (path === from || isInside(path, from))
  const paths = [to, ...files.filter(isMoved).map(({ path }) => to + path.slice(from?.length ?? 0))]
  for (const path of paths) {
    const problem = findPathProblem(path)
    if (problem) return `Cannot use "${path}": the path ${problem}`
  }
  return findTaken(
    files.filter((file) => !isMoved(file)),
    to,
  )
}

function findTaken(files: readonly Placed[], to: string): string | undefined {
  const taken = new Map<string, Placed>()
  for (const file of files) {
    // A folder may exist only because of a new file in it.
    for (let path = toParentPath(file.path); path !== ""; path = toParentPath(path))
      taken.set(path.toLowerCase(), { path, type: "directory" })
    taken.set(file.path.toLowerCase(), file)
  }
  const found = taken.get(to.toLowerCase())
  if (found?.path === to)
    return `Cannot use "${to}": there is a ${found.type === "directory" ? "folder" : "file"} with that name`
  for (let path = to; path !== ""; path = toParentPath(path)) {
    const other = taken.get(path.toLowerCase())
    if (!other) continue
    if (other.path !== path)
      return `Cannot use "${path}": there is "${other.path}", and paths must differ in more than case`
    return other.type === "directory"
      ? undefined
      : `Cannot put "${to}" into "${path}": that is a file, not a folder`
  }
  return undefined
}
