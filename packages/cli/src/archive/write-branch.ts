import { ApiError, type Client, type Input } from "@hamlet/contract/client"
import type { FileType } from "../checkout/checkout-state.ts"
import { listTree } from "../checkout/remote-tree.ts"
import { findBranch } from "../names/find-branch.ts"

/** A file that is imported. */
export interface SourceFile {
  readonly path: string
  readonly type: Exclude<FileType, "directory">
  readonly content: string
}

/** A branch that is imported. */
export interface SourceBranch {
  readonly name: string
  readonly files: readonly SourceFile[]
}

/** Makes a branch have exactly these files, in one version. */
export async function writeBranch(
  client: Client,
  id: string,
  { name, files }: SourceBranch,
  note: string,
): Promise<{ readonly version: number; readonly isNewVersion: boolean }> {
  const branch =
    name === "main"
      ? await findBranch(client, id)
      : await client.createBranch({ val_id: id, name }).catch((error: unknown) => {
          if (error instanceof ApiError && error.code === "branch_exists")
            return findBranch(client, id, name)
          throw error
        })
  const query = { val_id: id, branch_id: branch.id }
  const present = await Array.fromAsync(listTree(client, { val: { id }, branch }))
  const wanted = new Set(files.map(({ path }) => path))
  const gone = present.filter(({ path, type }) => type !== "directory" && !wanted.has(path))
  const changes: Input<"changeFiles">["changes"] = [
    ...gone.map(({ path }) => ({ path, delete: true }) as const),
    ...files.map(({ path, type, content }: SourceFile) => ({ path, type, content })),
  ]
  if (changes.length === 0) return { version: branch.version, isNewVersion: false }
  return client.changeFiles({ ...query, changes, note, isImport: true })
}
