import type { Client, Output } from "@hamlet/contract/client"
import { archiveLimits } from "../archive/archive-limits.ts"
import { createFetchText, forEachConcurrently, listTree } from "../checkout/remote-tree.ts"
import { CliError } from "../cli-error.ts"
import { limits } from "../limits.ts"
import type { Val } from "../names/find-val.ts"
import type { ArchivedBranch, ArchivedChange, ArchivedVersion } from "./archived-history.ts"

type Branch = Output<"listBranches">["data"][number]
type File = Output<"listFiles">["data"][number]
type Files = ReadonlyMap<string, File>

/** Downloads all branches of a val with all their versions. */
export async function fetchHistory(
  client: Client,
  val: Pick<Val, "id" | "name">,
): Promise<readonly ArchivedBranch[]> {
  const page = { val_id: val.id, limit: limits.pageItemsMax }
  const branches = await Array.fromAsync(client.items("listBranches", page))
  const names = new Map(branches.map(({ id, name }) => [id, name]))
  const budget = createBudget(val.name)
  const archived: ArchivedBranch[] = []
  for (const branch of branches) {
    const { name, createdAt, forkedBranchId } = branch
    // The branch that it was made from may be gone.
    const from = name === "main" ? null : (names.get(forkedBranchId ?? "") ?? "main")
    const versions = await fetchVersions(client, val.id, branch, budget)
    archived.push({ name, from, createdAt, versions })
  }
  return archived
}

async function fetchVersions(
  client: Client,
  valId: string,
  branch: Branch,
  addChars: (count: number) => void,
): Promise<readonly ArchivedVersion[]> {
  const ids = { val_id: valId, branch_id: branch.id, limit: limits.pageItemsMax }
  const listed = (await Array.fromAsync(client.items("listHistory", ids))).reverse()
  // `main` begins without files, and another branch with a copy.
  const first = { version: 0, createdAt: branch.createdAt, note: null }
  const rest = listed.filter(({ version }) => version > 0)
  const versions: ArchivedVersion[] = []
  let before: Files = new Map()
  for (const { version, createdAt, note } of branch.name === "main" ? rest : [first, ...rest]) {
    const place = { val: { id: valId }, branch }
    const files = await Array.fromAsync(listTree(client, place, version))
    const after: Files = new Map(files.map((file) => [file.id, file]))
    const texts = await fetchTexts(client, valId, branch, version, before, after)
    for (const text of texts.values()) addChars(text.length)
    versions.push({ version, createdAt, note, changes: toChanges(before, after, texts) })
    before = after
  }
  return versions
}

/** The texts of the files that a version has changed. */
async function fetchTexts(
  client: Client,
  valId: string,
  branch: Branch,
  version: number,
  before: Files,
  after: Files,
): Promise<ReadonlyMap<string, string>> {
  const fetchText = createFetchText(client, { val: { id: valId }, branch }, version)
  const texts = new Map<string, string>()
  const changed = [...after.values()].filter(
    ({ id, type, version: since }) => type !== "directory" && before.get(id)?.version !== since,
  )
  await forEachConcurrently(changed, limits.watchFetchesMax, async ({ id, path }) => {
    texts.set(id, await fetchText(path))
  })
  return texts
}

/**
 * What leads from one list of files to the next. A move to a path that was taken is a deletion and a
 * new file. Directories go last, when nothing is in them.
 */
function toChanges(
  before: Files,
  after: Files,
  texts: ReadonlyMap<string, string>,
): readonly ArchivedChange[] {
  const taken = new Set([...before.values()].map(({ path }) => path))
  const isMoved = ({ id, path, type }: File) => {
    const old = before.get(id)
    return old !== undefined && type !== "directory" && old.path !== path && !taken.has(path)
  }
  const gone = [...before.values()].filter(({ id, path }) => {
    const file = after.get(id)
    return !file || (file.path !== path && !isMoved(file))
  })
  const toDelete = (files: readonly File[]) =>
    files
      .map(({ path }) => ({ path, delete: true }) as const)
      .sort((one, other) => (one.path < other.path ? 1 : -1))
  const present = [...after.values()].sort((one, other) => (one.path < other.path ? -1 : 1))
  const isDirectory = ({ type }: File) => type === "directory"
  return [
    ...toDelete(gone.filter((file) => !isDirectory(file))),
    ...present
      .filter((file) => isDirectory(file) && before.get(file.id)?.path !== file.path)
      .map(({ path }) => ({ path, type: "directory" }) as const),
    ...present.filter(isMoved).map(({ id, path, type }) => ({
      path: before.get(id)?.path ?? path,
      newPath: path,
      content: texts.get(id),
      type: toContentType(type),
    })),
    ...present.flatMap((file) => {
      const content = texts.get(file.id)
      return content === undefined || isMoved(file)
        ? []
        : [{ path: file.path, type: toContentType(file.type), content }]
    }),
    ...toDelete(gone.filter(isDirectory)),
  ]
}

function toContentType(type: File["type"]): Exclude<File["type"], "directory"> {
  return type === "directory" ? "file" : type
}

/** An entry of an archive has a size limit. */
function createBudget(name: string): (count: number) => void {
  let chars = 0
  return (count) => {
    chars += count
    if (chars > archiveLimits.entryBytesMax)
      throw new CliError(
        "failed",
        `Cannot export val "${name}": its history is larger than ${archiveLimits.entryBytesMax} bytes`,
        { advice: 'leave the history out: export it without "--history"' },
      )
  }
}
