import type { TextType, ValFile } from "./sdk-records.ts"
import { findWarnings, guessType, type LocalItem } from "./vt-folder.ts"

/** Texts that have more in common than this may be the same file. */
const similarityMin = 0.5

/** A file or directory, and how the folder differs from the server in it. */
export interface ItemStatus {
  readonly kind: "created" | "modified" | "deleted" | "renamed" | "not_modified"
  readonly path: string
  /** The former path of a renamed file. */
  readonly oldPath?: string
  readonly type: TextType | "directory"
  readonly content: string
  readonly warnings: readonly string[]
}

/** Compares a folder with a list of the server; reads contents only where times differ. */
export async function compare(
  local: readonly LocalItem[],
  remote: readonly ValFile[],
  readContent: (path: string) => Promise<string>,
): Promise<ItemStatus[]> {
  const remoteByPath = new Map(remote.map((file) => [file.path, file]))
  const localPaths = new Set(local.map((item) => item.path))
  const here = await Promise.all(
    local.map((item) => compareItem(item, remoteByPath.get(item.path), readContent)),
  )
  const missing = await Promise.all(
    remote
      .filter((file) => !localPaths.has(file.path))
      .map(async ({ path, type }): Promise<ItemStatus> => {
        const content = type === "directory" ? "" : await readContent(path)
        return { kind: "deleted", path, type, content, warnings: [] }
      }),
  )
  return joinRenames([...here, ...missing])
}

async function compareItem(
  item: LocalItem,
  file: ValFile | undefined,
  readContent: (path: string) => Promise<string>,
): Promise<ItemStatus> {
  const { path, content } = item
  const type = file?.type ?? (item.isDirectory ? "directory" : guessType(path))
  const warnings = findWarnings(item)
  if (file === undefined) return { kind: "created", path, type, content, warnings }
  const isSame =
    item.isDirectory ||
    item.mtimeMs === Date.parse(file.updatedAt) ||
    content === (await readContent(path))
  return { kind: isSame ? "not_modified" : "modified", path, type, content, warnings }
}

/** A file that is gone and a new one with a similar text are one that was renamed; it keeps its type. */
function joinRenames(items: readonly ItemStatus[]): ItemStatus[] {
  const joined = new Map(items.map((item) => [item.path, item]))
  const created = items.filter(({ kind, type }) => kind === "created" && type !== "directory")
  for (const old of items.filter(({ kind, type }) => kind === "deleted" && type !== "directory")) {
    const candidates = created
      .filter(({ path }) => joined.get(path)?.kind === "created")
      .map((item) => ({ item, similarity: toSimilarity(item.content, old.content) }))
      .filter(({ similarity }) => similarity > similarityMin)
      .sort((one, other) => other.similarity - one.similarity)
    const match = candidates[0]?.item
    if (match === undefined) continue
    joined.delete(old.path)
    joined.set(match.path, { ...match, kind: "renamed", oldPath: old.path, type: old.type })
  }
  return [...joined.values()]
}

/** How much of the longer text both begin and end with. */
function toSimilarity(one: string, other: string): number {
  const [shorter, longer] = one.length < other.length ? [one, other] : [other, one]
  let start = 0
  while (start < shorter.length && shorter[start] === longer[start]) start += 1
  let end = 0
  while (end < shorter.length - start && shorter.at(-1 - end) === longer.at(-1 - end)) end += 1
  return longer.length === 0 ? 1 : (start + end) / longer.length
}
