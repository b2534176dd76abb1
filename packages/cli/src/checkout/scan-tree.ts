import { existsSync } from "node:fs"
import { join } from "node:path"
import { limits } from "@hamlet/contract/limits"
import { CliError } from "../cli-error.ts"
import { hashText } from "../files/val-file.ts"
import {
  createFolderScanner,
  type FolderScan,
  type FolderScanner,
} from "../watch/folder-scanner.ts"
import { toParents } from "../watch/paths.ts"
import { ignoreFile, readIgnoreRules } from "./ignore-rules.ts"
import { findLocalPathProblem } from "./local-paths.ts"

/** The files in the folder of one val. */
export type TreeScan = FolderScan<{ readonly hash: string }>

/** Scans the folder of one val. Files with a known path are found even if they are ignored. */
export function createTreeScanner(
  folder: string,
  settleMs: number,
): FolderScanner<{ readonly hash: string }> {
  return createFolderScanner(folder, settleMs, (known) => {
    const isIgnored = readIgnoreRules(folder)
    const folders = [...known].flatMap(toParents).map((path) => `${path}/`)
    const wanted = new Set([...known, ...folders])
    return {
      isIgnored: (path) => !wanted.has(path) && isIgnored(path),
      findProblem: (path, isFolder) => findProblem(folder, path, isFolder),
      parse: (text, path) => ({ hash: hashContent(text, path) }),
      ignoreFile,
    }
  })
}

function findProblem(folder: string, path: string, isFolder: boolean): string | undefined {
  const problem = findLocalPathProblem(path)
  if (problem !== undefined) return `Cannot save "${path}": the path ${problem}`
  return isFolder && existsSync(join(folder, path, ".hamlet"))
    ? `Cannot save "${path}": it is the folder of another val`
    : undefined
}

/** Refuses what a val cannot contain, before it is sent. */
function hashContent(text: string, path: string): string {
  if (text.includes("\0"))
    throw new CliError("failed", `Cannot save "${path}": it is not text, it contains NUL`)
  if (text.length > limits.codeCharsMax)
    throw new CliError(
      "failed",
      `Cannot save "${path}": it has ${text.length} characters, and a file has at most ${limits.codeCharsMax}`,
    )
  return hashText(text)
}
