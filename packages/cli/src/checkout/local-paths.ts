import { lstatSync, rmdirSync } from "node:fs"
import { dirname, join } from "node:path"
import { findPathProblem } from "@hamlet/contract/file-paths"
import { CliError } from "../cli-error.ts"

/** Folders of programs that trust what is in them: a val must not put files there. */
const reservedNames = new Set([".git", ".hamlet"])

/** On Windows these names, with any extension, are devices. */
const devicePattern = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i

/**
 * Why a path of a val cannot be written below a folder, as the end of "the path …"; undefined if it
 * can. It comes from a server, from a state or from an archive, and none of them is trusted.
 */
export function findLocalPathProblem(
  path: string,
  platform: string = process.platform,
): string | undefined {
  const problem = findPathProblem(path)
  if (problem !== undefined) return problem
  for (const name of path.split("/")) {
    // Windows ignores dots at the end, and it and macOS ignore case.
    const key = name.toLowerCase().replace(/\.+$/, "")
    if (reservedNames.has(key) || /^git~\d+$/.test(key)) return `must not contain the name ${name}`
    if (platform === "win32" && (devicePattern.test(name) || name.endsWith(".")))
      return `must not contain the name ${name} on this system`
  }
  return undefined
}

/** Refuses to write through a link: it may lead out of the folder. */
export function assertPlainParents(folder: string, path: string): void {
  for (let parent = dirname(path); parent !== "."; parent = dirname(parent)) {
    const found = lstatSync(join(folder, parent), { throwIfNoEntry: false })
    if (found && !found.isDirectory())
      throw new CliError("failed", `Cannot write "${path}": "${parent}" is not a folder`)
  }
  if (lstatSync(join(folder, path), { throwIfNoEntry: false })?.isDirectory())
    throw new CliError("failed", `Cannot write "${path}": there is a folder of that name`)
}

/** Removes the folders that a file has left empty. */
export function removeEmptyParents(folder: string, path: string): void {
  for (let parent = dirname(path); parent !== "."; parent = dirname(parent)) {
    try {
      rmdirSync(join(folder, parent))
    } catch {
      // The folder is not empty.
      return
    }
  }
}
