import { existsSync, readdirSync } from "node:fs"
import { join, relative } from "node:path"
import type { Client } from "@hamlet/contract/client"
import { CliError } from "../cli-error.ts"
import type { FolderState } from "../files/folder-state.ts"
import { isValName } from "../files/front-matter.ts"
import { hashText, readText } from "../files/val-file.ts"
import type { Val } from "../names/find-val.ts"
import { moveReadmeToTrash, moveToTrash } from "../watch/actions/replace-file.ts"
import { isCheckoutFolder, loadCheckout } from "./checkout-state.ts"
import { cloneInto } from "./open-checkout.ts"
import type { PulledTree, TreeDeps } from "./sync-tree.ts"

/*
 * In the folder of an account, a val with one file of code is `name.ts`, with its readme beside it. A
 * val with more files is a folder of its own, as "hamlet val clone USER/VAL" makes it.
 */

/** Whether a val has files besides its code and its readme. */
export async function hasMoreFiles(client: Client, { id, readme, files }: Val): Promise<boolean> {
  if (files === 1) return false
  const limit = readme === null ? 2 : 3
  const { data } = await client.listFiles({ val_id: id, path: "", recursive: true, limit })
  return data.length >= limit
}

/** The folders of vals in the folder of an account, by the id of the val. */
export function listNested(folder: string): ReadonlyMap<string, string> {
  if (!existsSync(folder)) return new Map()
  const found = readdirSync(folder, { withFileTypes: true })
    .filter(
      (entry) => entry.isDirectory() && (!entry.name.startsWith(".") || isValName(entry.name)),
    )
    .map(({ name }) => join(folder, name))
    .filter(isCheckoutFolder)
    .map((path) => [loadCheckout(path).val.id, path] as const)
  return new Map(found)
}

/** Writes a val with several files to its folder, and moves the file that it was to the trash. */
export async function pullNested(
  deps: Omit<TreeDeps, "folder">,
  state: FolderState,
  server: string,
  val: Val,
  isForced: boolean,
): Promise<PulledTree & { readonly path: string }> {
  const path = listNested(state.folder).get(val.id) ?? toFolderPath(state.folder, val)
  const file = [...state.files].find(([, { id }]) => id === val.id)
  if (file && !isForced) assertUnchanged(state.folder, file[0], file[1].hash, val)
  const source = {
    server,
    val: { id: val.id, name: val.name, username: val.author.username },
    branch: { id: val.id, name: "main" },
  }
  const prefix = relative(state.folder, path)
  const report: TreeDeps["report"] = (event) =>
    deps.report({ ...event, file: join(prefix, event.file) })
  const pulled = await cloneInto({ ...deps, report, folder: path }, source, isForced)
  if (file) {
    if (existsSync(join(state.folder, file[0]))) moveToTrash(state.folder, file[0])
    moveReadmeToTrash(state.folder, file[0])
    state.delete(join(state.folder, file[0]))
  }
  return { ...pulled, path }
}

function toFolderPath(folder: string, { name }: Val): string {
  // The name comes from the server and becomes a path: it must not lead outside the folder.
  if (!isValName(name))
    throw new CliError("failed", `Cannot make a folder of val "${name}": the name is not valid`)
  return join(folder, name)
}

function assertUnchanged(folder: string, file: string, hash: string, val: Val): void {
  const path = join(folder, file)
  if (!existsSync(path) || hashText(readText(path)) === hash) return
  throw new CliError(
    "conflict",
    `Cannot write ${val.author.username}/${val.name} to a folder: it has several files now, and "${file}" has local changes`,
    { advice: 'save them with "hamlet val push", or overwrite them with "--force"' },
  )
}
