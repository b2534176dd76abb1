import { type Item, type Output, unlessMissing } from "@hamlet/contract/client"
import { api } from "../../api.ts"

/** A file or directory as the API lists it. */
export type ListedFile = Item<"listFiles">

/** What a file is. */
export type FileType = ListedFile["type"]

/** A val as the API returns it. */
export type Val = Output<"getVal">

/** A branch, as far as the editor knows it. */
export type Branch = Pick<Item<"listBranches">, "id" | "name" | "version">

/** A branch of a val in its newest version. */
export interface LoadedVal {
  readonly val: Val
  readonly branch: Branch
  readonly files: readonly ListedFile[]
}

/** The branch that a val has from the beginning; it has the id of the val. */
export const mainBranch = "main"

const pageLimit = 100

/** The val with the files of a branch. Fails with not-found if it has no branch of that name. */
export async function loadVal(
  name: { readonly username: string; readonly val_name: string },
  branchName: string,
  signal: AbortSignal,
): Promise<LoadedVal> {
  const val = await api.getValByName(name, { signal })
  const branch = await findBranch(val, branchName, signal)
  return { val, branch, files: await listAllFiles(val.id, branch, signal) }
}

/** The newest version of a branch. */
export async function loadNewest(val: Val, branch: Branch): Promise<LoadedVal> {
  const newVal = await api.getVal({ val_id: val.id })
  const newBranch =
    branch.id === val.id
      ? toMain(newVal)
      : await api.getBranch({ val_id: val.id, branch_id: branch.id })
  return { val: newVal, branch: newBranch, files: await listAllFiles(val.id, newBranch) }
}

/** The text of a file in the version in which it last changed. */
export async function readLastText(
  valId: string,
  branchId: string,
  file: ListedFile,
): Promise<string> {
  const text = await unlessMissing(readText(valId, branchId, file), "version_not_found")
  // That version was deleted. If the newest one has another text, a save is refused: it is based on
  // an older version.
  return text ?? readText(valId, branchId, { path: file.path })
}

/** The text of a file in a version; in the newest one if none is named. */
export async function readText(
  valId: string,
  branchId: string,
  { path, version }: { readonly path: string; readonly version?: number },
  signal?: AbortSignal,
): Promise<string> {
  const place = { val_id: valId, branch_id: branchId, path, version }
  const content = await api.getFileContent(place, { signal })
  // `text()` would drop a byte order mark.
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(await content.arrayBuffer())
}

async function findBranch(val: Val, name: string, signal: AbortSignal): Promise<Branch> {
  if (name === mainBranch) return toMain(val)
  const { data } = await api.listBranches({ val_id: val.id, limit: pageLimit }, { signal })
  const found = data.find((branch) => branch.name === name)
  // The response of the server says it.
  return found ?? (await api.getBranch({ val_id: val.id, branch_id: noId }, { signal }))
}

const noId = "00000000-0000-0000-0000-000000000000"

function toMain({ id, version }: Val): Branch {
  return { id, name: mainBranch, version }
}

/** All files and directories of one version of a branch. */
export function listAllFiles(
  valId: string,
  { id, version }: Pick<Branch, "id" | "version">,
  signal?: AbortSignal,
): Promise<readonly ListedFile[]> {
  const place = { val_id: valId, branch_id: id, version, path: "", recursive: true }
  return Array.fromAsync(api.items("listFiles", { ...place, limit: pageLimit }, { signal }))
}
