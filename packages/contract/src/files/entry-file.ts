// Without the schemas: clients show which file it is.
import type { fileTypes } from "../lists.ts"

type FileType = (typeof fileTypes)[number]

/** The path of the readme of a val. */
export const readmePath = "README.md"

const entryPaths = ["main", "index"].flatMap((name) =>
  [".tsx", ".ts", ".jsx", ".js"].map((extension) => `${name}${extension}`),
)
const startedTypes: readonly FileType[] = ["http", "interval", "email"]

interface EntryFile {
  readonly path: string
  readonly type: FileType
}

/**
 * The file that `/v1` calls the code of a val: `own`, the one with the id of its branch, else by a
 * rule. The readme is never that.
 */
export function findEntryFile<File extends EntryFile>(
  all: readonly File[],
  own: File | undefined,
): File | undefined {
  if (own && own.path !== readmePath) return own
  const files = all.filter(({ path }) => path !== readmePath)
  const byName = new Map(files.map((file) => [file.path, file]))
  for (const path of entryPaths) {
    const file = byName.get(path)
    if (file && file.type !== "directory") return file
  }
  return findFirst(files, startedTypes) ?? findFirst(files, ["script"])
}

function findFirst<File extends EntryFile>(
  files: readonly File[],
  types: readonly FileType[],
): File | undefined {
  let first: File | undefined
  for (const file of files)
    if (types.includes(file.type) && (!first || file.path < first.path)) first = file
  return first
}
