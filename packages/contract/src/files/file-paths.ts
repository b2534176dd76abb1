// Without the schemas: clients check a path before they send it.
import { limits } from "../limits.ts"

/**
 * One segment of a path, whatever its length: what stands in the path of a URL as it is, as in
 * `@types` and `+page.ts`.
 */
const namePattern = /^[a-zA-Z0-9$[\]()\-_.@+~,=!]+$/

/** The name of a branch, whatever its length. In addresses it follows an `@`. */
export const segmentPattern = /^[a-zA-Z0-9$[\]()\-_.]+$/

/** Why a file cannot have this path, as the end of "the path …"; undefined if it can. */
export function findPathProblem(path: string): string | undefined {
  if (path === "") return "must not be empty"
  if (path.length > limits.filePathCharsMax)
    return `must be at most ${limits.filePathCharsMax} characters`
  const names = path.split("/")
  if (names.length > limits.filePathLevelsMax)
    return `must have at most ${limits.filePathLevelsMax} levels`
  for (const name of names) {
    const problem = findNameProblem(name)
    if (problem) return problem
  }
  return undefined
}

function findNameProblem(name: string): string | undefined {
  if (name === "") return "must not begin or end with a slash, nor have two in a row"
  if (name === "." || name === "..") return "must not contain the names . and .."
  if (name.length > limits.fileNameCharsMax)
    return `must have names of at most ${limits.fileNameCharsMax} characters`
  return namePattern.test(name)
    ? undefined
    : "must contain only letters, digits, $ [ ] ( ) - _ . @ + ~ , = ! and slashes between them"
}

/** The directory that a path is in; empty for the root. */
export function toParentPath(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")))
}

/** The last segment of a path. */
export function toFileName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1)
}

/** The path of a name in a directory. */
export function joinPath(parent: string, name: string): string {
  return parent === "" ? name : `${parent}/${name}`
}

/** Whether the path is inside of the directory, at any level. The root contains everything. */
export function isInside(path: string, directory: string): boolean {
  return directory === "" ? path !== "" : path.startsWith(`${directory}/`)
}
