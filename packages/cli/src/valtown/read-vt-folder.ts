import { existsSync, readdirSync, readFileSync } from "node:fs"
import { basename, join, resolve } from "node:path"
import type { SourceFile } from "../archive/write-branch.ts"
import { createTreeScanner } from "../checkout/scan-tree.ts"
import { CliError } from "../cli-error.ts"
import { isValName } from "../files/front-matter.ts"
import type { SourceVal } from "./val-source.ts"

/** The folders that `vt clone` made: the folder itself, or those in it. */
export function listVtFolders(source: string): readonly string[] {
  const isVt = (folder: string) => existsSync(join(folder, ".vt", "state.json"))
  if (isVt(source)) return [source]
  const inner = existsSync(source)
    ? readdirSync(source, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => join(source, name))
        .filter(isVt)
    : []
  if (inner.length > 0) return inner
  throw new CliError(
    existsSync(source) ? "usage" : "notFound",
    `Cannot import "${source}": it is not a folder that "vt clone" made`,
    { advice: "it should contain .vt/state.json" },
  )
}

/**
 * Reads a folder of `vt`. It has the files of one branch and knows neither the name of the val nor
 * the types of its files: the name is that of the folder, and types are guessed as `vt` does.
 */
export function readVtFolder(folder: string, name = basename(resolve(folder))): SourceVal {
  if (!isValName(name))
    throw new CliError(
      "usage",
      `Cannot import "${folder}": "${name}" is not a valid name of a val`,
      {
        advice: 'choose one with "--name"',
      },
    )
  const { files, blocked } = createTreeScanner(folder, 0).scan([])
  const read = [...files.keys()].sort().map(
    (path): SourceFile => ({
      path,
      type: guessType(path),
      content: readFileSync(join(folder, path), "utf8"),
    }),
  )
  return {
    source: folder,
    name,
    privacy: "private",
    description: null,
    branches: [{ name: "main", files: read }],
    variables: undefined,
    problems: [...blocked.values()].filter((problem) => problem !== undefined),
  }
}

/** The type of a new file by its path. */
function guessType(path: string): SourceFile["type"] {
  if (!/\.[jt]sx?$/.test(path)) return "file"
  const words = [
    ["cron", "interval"],
    ["http", "http"],
    ["email", "email"],
  ] as const
  const [found, another] = words.filter(([word]) => path.includes(word))
  return found === undefined || another !== undefined ? "script" : found[1]
}
