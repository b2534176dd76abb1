import { existsSync } from "node:fs"
import { join } from "node:path"
import ignore from "ignore"
import { readText } from "../files/val-file.ts"
import { isConflictPath } from "../watch/paths.ts"

/** The file with patterns of files that are not saved, in the syntax of .gitignore. */
export const ignoreFile = ".hamletignore"

/** A line of .hamletignore can include them again. */
const defaultPatterns = [
  "node_modules/",
  ".vt/",
  ".DS_Store",
  // They contain secrets.
  ".env",
  ".env.*",
  "*.swp",
  "*~",
  ".#*",
]

/** Tells whether a path is ignored; that of a folder ends in a slash. */
export type IsIgnored = (path: string) => boolean

/** Reads the patterns of a folder. */
export function readIgnoreRules(folder: string): IsIgnored {
  const path = join(folder, ignoreFile)
  const rules = ignore({ allowRelativePaths: true }).add(defaultPatterns)
  if (existsSync(path)) rules.add(readText(path))
  return (inner) =>
    /^\.(?:git|hamlet)\//.test(inner) || isConflictPath(inner) || rules.ignores(inner)
}
