import {
  ApiError,
  type Client,
  ConnectionError,
  type Item,
  type Output,
} from "@hamlet/contract/client"
import { CliError } from "../cli-error.ts"
import { hashText } from "../files/val-file.ts"
import { limits } from "../limits.ts"
import type { Val } from "../names/find-val.ts"
import { collectBytes, toText } from "../terminal/read-input.ts"
import { type BaseFile, type Checkout, toCheckoutName } from "./checkout-state.ts"
import { findLocalPathProblem } from "./local-paths.ts"

/** A branch of a val. */
export type Branch = Output<"getBranch">

/** The files of a branch in one version. */
export interface RemoteTree {
  readonly version: number
  readonly files: ReadonlyMap<string, BaseFile>
  readonly directories: ReadonlySet<string>
  /** Paths that cannot be written here, and why. */
  readonly refused: ReadonlyMap<string, string>
}

/** Fetches the content of a file of a tree. */
export type FetchText = (path: string) => Promise<string>

/** Called with the number of files that are fetched, after each of them, and however it ends. */
export interface OnFetch {
  begin(total: number): void
  add(): void
  end(): void
}

/** The branch of a folder, as it is on the server. */
export async function getBranch(client: Client, checkout: Checkout): Promise<Branch> {
  const { val, branch } = checkout
  try {
    return await client.getBranch({ val_id: val.id, branch_id: branch.id })
  } catch (error) {
    if (!(error instanceof ApiError && ["val_not_found", "branch_not_found"].includes(error.code)))
      throw error
    const isVal = error.code === "val_not_found"
    throw new CliError(
      "notFound",
      `Cannot find ${toCheckoutName(checkout)}: the ${isVal ? "val" : "branch"} was deleted since the folder was written`,
      {
        cause: error,
        advice: isVal
          ? 'the files are still there; save them with "hamlet val push --create NAME"'
          : 'use another with "hamlet branch switch"',
      },
    )
  }
}

/**
 * Fetches the list of files, and the content of those that differ from the recorded ones. The tree
 * of the recorded version is known already.
 */
export async function fetchTree(
  client: Client,
  checkout: Checkout,
  { version }: Pick<Branch, "version">,
  onFetch: OnFetch,
): Promise<RemoteTree & { readonly texts: ReadonlyMap<string, string> }> {
  const texts = new Map<string, string>()
  const refused = new Map<string, string>()
  const directories = new Set<string>()
  const listed = new Map<string, Omit<BaseFile, "hash">>()
  const keys = new Map<string, string>()
  for await (const { path, id, type, version: since } of listTree(client, checkout, version)) {
    const other = keys.get(path.toLowerCase())
    const problem =
      findLocalPathProblem(path) ??
      (other === undefined ? undefined : `must differ from "${other}" in more than case`)
    if (problem !== undefined && type !== "directory")
      refused.set(path, `Cannot write "${path}": the path ${problem}`)
    else if (problem !== undefined) continue
    else if (type === "directory") directories.add(path)
    else listed.set(path, { id, type, version: since })
    keys.set(path.toLowerCase(), path)
  }
  const known = new Map(
    [...checkout.files.values()].map((file) => [`${file.id} ${file.version}`, file.hash]),
  )
  const fetchText = createFetchText(client, checkout, version)
  const fresh = [...listed].filter(([, file]) => !known.has(`${file.id} ${file.version}`))
  onFetch.begin(fresh.length)
  try {
    await forEachConcurrently(fresh, limits.watchFetchesMax, async ([path]) => {
      texts.set(path, await fetchText(path))
      onFetch.add()
    })
  } finally {
    onFetch.end()
  }
  const files = [...listed].map(([path, file]) => {
    const text = texts.get(path)
    const hash = text === undefined ? known.get(`${file.id} ${file.version}`) : hashText(text)
    return [path, { ...file, hash: hash ?? "" }] as const
  })
  return { version, files: new Map(files), directories, refused, texts }
}

/** Whether a val has files besides its code and its readme. */
export async function hasMoreFiles(client: Client, { id, readme, files }: Val): Promise<boolean> {
  if (files === 1) return false
  const limit = readme === null ? 2 : 3
  const { data } = await client.listFiles({ val_id: id, path: "", recursive: true, limit })
  return data.length >= limit
}

/** A val and one of its branches. */
type Place = Readonly<Record<"val" | "branch", { readonly id: string }>>

/** Lists all files and folders of a branch; of its newest version if none is named. */
export function listTree(
  client: Client,
  { val, branch }: Place,
  version?: number,
): AsyncIterable<Item<"listFiles">> {
  const query = { val_id: val.id, branch_id: branch.id, version, path: "", recursive: true }
  return client.items("listFiles", { ...query, limit: limits.pageItemsMax })
}

/** Fetches contents of one version, which never change. */
export function createFetchText(
  client: Client,
  { val, branch }: Place,
  version: number,
): FetchText {
  return async (path) => {
    const response = await client.getFileContent({
      val_id: val.id,
      branch_id: branch.id,
      version,
      path,
    })
    return toText(await readBody(response, path), `"${path}"`)
  }
}

async function readBody({ body }: Response, path: string): Promise<Uint8Array> {
  const failure = `Cannot download "${path}"`
  try {
    return await collectBytes(body, limits.inputBytesMax, failure)
  } catch (cause) {
    if (cause instanceof CliError) throw cause
    throw new ConnectionError(`${failure}: ${(cause as Error).message}`, { cause })
  }
}

/** Works on all items, at most `max` of them at the same time. */
export async function forEachConcurrently<Item>(
  items: readonly Item[],
  max: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const left = [...items].reverse()
  const worker = async () => {
    for (let item = left.pop(); item !== undefined; item = left.pop()) await work(item)
  }
  await Promise.all(Array.from({ length: max }, worker))
}
