import { ApiError, type Client, type Output } from "@hamlet/contract/client"
import { fetchBranchFiles } from "../archive/fetch-files.ts"
import { CliError } from "../cli-error.ts"
import { limits } from "../limits.ts"
import type { SourceVal } from "./val-source.ts"

type Folder = Output<"getFolder">

/** The vals of the token's owner, or the one that is named `user/val`. */
export async function listSourceVals(
  client: Client,
  name: string | undefined,
): Promise<readonly Folder[]> {
  if (name === undefined)
    return Array.fromAsync(client.items("listMyFolders", { limit: limits.pageItemsMax }))
  const [username = "", val_name, ...rest] = name.replace(/^@/, "").split("/")
  if (val_name === undefined || rest.length > 0)
    throw new CliError("usage", `Cannot use "${name}" as the name of a val: write USER/VAL`)
  return [await client.getFolderByName({ username, val_name })]
}

/** Downloads a val with all its branches. */
export async function fetchSourceVal(client: Client, val: Folder): Promise<SourceVal> {
  const { id, name, privacy, description, author } = val
  const problems: string[] = []
  const branches: SourceVal["branches"][number][] = []
  const listed = client.items("listBranches", { val_id: id, limit: limits.pageItemsMax })
  for await (const branch of listed)
    branches.push({
      name: branch.name,
      files: await fetchBranchFiles(client, id, branch, (text) => problems.push(text)),
    })
  branches.sort((one, other) => Number(other.name === "main") - Number(one.name === "main"))
  const source = `${author.username ?? ""}/${name}`
  return {
    source,
    name,
    privacy,
    description,
    branches,
    problems,
    variables: await listVariables(client, id),
  }
}

/** Only the owner of a val sees them. */
async function listVariables(client: Client, id: string): Promise<readonly string[] | undefined> {
  const listed = client.items("listEnvironmentVariables", {
    val_id: id,
    limit: limits.pageItemsMax,
  })
  try {
    return (await Array.fromAsync(listed)).map(({ key }) => key)
  } catch (error) {
    if (error instanceof ApiError && [401, 403, 404].includes(error.status)) return undefined
    throw error
  }
}
