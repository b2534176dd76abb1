import type { Client } from "@hamlet/contract/client"
import {
  type Branch,
  createFetchText,
  forEachConcurrently,
  listTree,
} from "../checkout/remote-tree.ts"
import { CliError } from "../cli-error.ts"
import { limits } from "../limits.ts"
import type { SourceFile } from "./write-branch.ts"

/** Downloads the files of the newest version of a branch; those that cannot be read are reported. */
export async function fetchBranchFiles(
  client: Client,
  valId: string,
  { id, version }: Pick<Branch, "id" | "version">,
  onProblem: (text: string) => void,
): Promise<readonly SourceFile[]> {
  const place = { val: { id: valId }, branch: { id } }
  const listed = await Array.fromAsync(listTree(client, place, version))
  const fetchText = createFetchText(client, place, version)
  const files: SourceFile[] = []
  await forEachConcurrently(listed, limits.watchFetchesMax, async ({ path, type }) => {
    if (type === "directory") return
    try {
      files.push({ path, type, content: await fetchText(path) })
    } catch (error) {
      if (!(error instanceof CliError)) throw error
      onProblem(error.message)
    }
  })
  return files.sort((one, other) => (one.path < other.path ? -1 : 1))
}
