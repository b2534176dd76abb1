import { api } from "../../api.ts"
import { isNotFound } from "../../data/explain.ts"
import { type ListedFile, listAllFiles } from "../files/load-files.ts"
import type { ComparedFile, FileTexts } from "./compared-file.ts"

/** A version of a branch; undefined for no files at all. */
export interface FilesAt {
  readonly valId: string
  readonly branchId: string
  readonly version: number | undefined
}

/** All files and directories of a version; undefined if it was deleted. */
export async function loadFiles(
  { valId, branchId, version }: FilesAt,
  signal: AbortSignal,
): Promise<readonly ListedFile[] | undefined> {
  if (version === undefined) return []
  try {
    return await listAllFiles(valId, { id: branchId, version }, signal)
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

/** The texts of a file in two versions. */
export async function loadTexts(
  { path, newPath, kind }: ComparedFile,
  before: FilesAt,
  after: FilesAt,
  signal: AbortSignal,
): Promise<FileTexts> {
  const [old, now] = await Promise.all([
    kind === "added" ? "" : loadText(before, path, signal),
    kind === "deleted" ? "" : loadText(after, newPath ?? path, signal),
  ])
  return { before: old, after: now }
}

async function loadText(
  { valId, branchId, version }: FilesAt,
  path: string,
  signal: AbortSignal,
): Promise<string> {
  const query = { val_id: valId, branch_id: branchId, path }
  const input = version === undefined ? query : { ...query, version }
  return await (await api.getFileContent(input, { signal })).text()
}
