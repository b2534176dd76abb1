import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs"
import { join } from "node:path"
import { unlessMissing } from "@hamlet/contract/client"
import { findEntryFile, readmePath } from "@hamlet/contract/entry-file"
import { type BaseFile, loadCheckout, saveCheckout } from "../checkout/checkout-state.ts"
import { fetchTree } from "../checkout/remote-tree.ts"
import type { TreeDeps } from "../checkout/sync-tree.ts"
import { CliError } from "../cli-error.ts"
import { type FileState, type FolderState, openFolderState } from "../files/folder-state.ts"
import { findReadme, hashReadme, toReadmePath } from "../files/readme-file.ts"
import { hashText, parseValFile, readText, type ValFile } from "../files/val-file.ts"
import { writeFileWhole } from "../files/write-file.ts"
import type { Val } from "../names/find-val.ts"
import { discardFile } from "../watch/keep-texts.ts"
import { toStem } from "../watch/paths.ts"
import { performSteps, type StepResult, startRound } from "../watch/perform-steps.ts"
import { writeConflictFile } from "../watch/replace-file.ts"
import type { SyncResult } from "../watch/sync-result.ts"
import { openAccountRecord } from "./account-record.ts"
import type { Account } from "./account-state.ts"
import { inFolder, toSource } from "./account-steps.ts"
import type { OldFiles } from "./old-files.ts"
import { findFreeFolder, listValFolders } from "./val-folders.ts"

/** Dependencies of a conversion. */
export interface ConvertDeps extends TreeDeps {
  readonly serverUrl: string
  /** The owner of the vals, and the id of the signed-in user. */
  readonly owner: Account["owner"]
  readonly callerId: string
}

/** What a conversion changes: the records of files, and the folders of vals, by the id of the val. */
interface Progress {
  readonly state: FolderState
  readonly folders: Map<string, string>
}

/** A file that is converted, and what is known of its val. */
interface OldFile {
  readonly file: ValFile
  readonly readme: string | undefined
  readonly base: FileState | undefined
  readonly val: Val
}

/** The path that the server gives the code of a new val. */
const newEntryPath = "main.tsx"

/**
 * Makes a folder of each file. The folder gets the version that the file was based on, with the code
 * and the readme of the file: what was not saved yet is then a change like any other, which the next
 * round saves or merges. The file moves to the trash once the folder is complete, so that this can be
 * interrupted and repeated.
 */
export async function convertOldFiles(
  given: ConvertDeps,
  { files, gone }: OldFiles,
): Promise<SyncResult> {
  const { deps, tally } = startRound(given)
  const { folder, serverUrl, owner } = deps
  const state = openFolderState(folder, serverUrl)
  const folders = new Map(listValFolders(folder, new Set()).checkouts)
  const left = new Map(gone)
  const steps = [...files].map(([path, base]) => ({
    file: path,
    isRename: true,
    perform: () => convert(deps, { state, folders }, path, base ?? takeMoved(folder, path, left)),
  }))
  await performSteps(deps, tally, steps)
  if (tally.isRaced || tally.exit !== undefined || deps.isStopping()) return tally
  rmSync(join(folder, ".hamlet", "converting"), { recursive: true, force: true })
  // The vals of deleted files were kept, and stay without a folder.
  const record = openAccountRecord(folder, { server: serverUrl, owner })
  for (const [path, { id, name = toStem(path), version, isLeft, owner: ownerId }] of left) {
    const known = { folder: name, name, version, ...(isLeft && { isLeft }) }
    const isSeen = folders.has(id) || record.vals.has(id)
    if (!isSeen && (ownerId ?? owner.id) === owner.id) record.set(id, known)
  }
  record.save()
  for (const path of gone.keys()) state.delete(join(folder, path))
  state.save()
  return tally
}

/** The record of a file that was moved here while nothing watched it. */
function takeMoved(
  folder: string,
  path: string,
  left: Map<string, FileState>,
): FileState | undefined {
  const hash = hashText(readText(join(folder, path)))
  const found = [...left].find(([, state]) => state.hash === hash && !state.isLeft)
  if (found) left.delete(found[0])
  return found?.[1]
}

async function convert(
  deps: ConvertDeps,
  { state, folders }: Progress,
  path: string,
  base: FileState | undefined,
): Promise<StepResult> {
  const { client, folder, owner } = deps
  const file = parseValFile(readText(join(folder, path)), path)
  const readme = findReadme(join(folder, path))
  const found = await unlessMissing(
    base
      ? client.getVal({ val_id: base.id })
      : client.getValByName({ username: owner.username, val_name: file.name }),
  )
  const reason = "the val was deleted"
  if (base && !found)
    return discard(deps, state, { file, readme }, base.hash === file.hash ? undefined : reason)
  const val = found ? await saveSettings(deps, file, base, found) : await createVal(deps, file)
  const old = { file, readme, base: found ? base : toFirst(val), val }
  const known = folders.get(val.id)
  const name = known ?? (await makeFolder(deps, old))
  folders.set(val.id, name)
  const entry = findEntry(loadCheckout(join(folder, name)).files, val.id)
  if (known !== undefined) keepTexts(deps, name, entry, old)
  const result = discard(deps, state, { file, readme })
  if (result === "done") deps.report({ action: "moved", file: join(name, entry), other: path, val })
  return result
}

async function createVal({ client }: ConvertDeps, { path, name, code, front }: ValFile) {
  if (code === "") throw new CliError("failed", `Cannot make a val of "${path}": it is empty`)
  return client.createVal({ name, code, privacy: front.privacy, type: front.type })
}

function toFirst({ id, version }: Val): FileState {
  return { id, version, hash: "" }
}

/** Saves settings that have changed in the first line alone: the folder of a val has none. */
async function saveSettings(
  { client, callerId, report }: ConvertDeps,
  { path, name, front }: ValFile,
  base: FileState | undefined,
  val: Val,
): Promise<Val> {
  const wanted = { name, privacy: front.privacy, type: front.type }
  const changed = (["name", "privacy", "type"] as const).filter(
    (field) =>
      wanted[field] !== undefined &&
      wanted[field] !== val[field] &&
      wanted[field] !== base?.[field],
  )
  const isOwn = val.author.id === callerId
  const clear = changed.filter((field) => isOwn && base?.[field] === val[field])
  for (const field of changed.filter((one) => !clear.includes(one))) {
    const text = `The first line of "${path}" says ${field}=${wanted[field]}, and the val has ${val[field]}, which it keeps`
    report({ action: "problem", file: path, val, text })
  }
  if (clear.length === 0) return val
  const fields = Object.fromEntries(clear.map((field) => [field, wanted[field]]))
  await client.updateVal({ val_id: val.id, ...fields }, { ifMatch: val.version })
  const saved = await client.getVal({ val_id: val.id })
  report({ action: clear.includes("name") ? "renamed" : "saved", file: path, val: saved })
  return saved
}

/** Makes the folder of a val. Returns its name. */
async function makeFolder(deps: ConvertDeps, old: OldFile): Promise<string> {
  const { folder, client, serverUrl } = deps
  const { file, readme, base, val } = old
  const source = toSource(serverUrl, val, val.author.username)
  const fetch = (version: number) => {
    const checkout = { ...source, version: null, files: new Map<string, BaseFile>() }
    return fetchTree(client, checkout, { version }, inFolder(deps, "").onFetch)
  }
  const known = base && (await unlessMissing(fetch(base.version)))
  const { files, texts, refused, version } = known ?? (await fetch(val.version))
  const entry = findEntry(files, val.id)
  const written = new Map(known ? texts : [])
  written.set(entry, file.code)
  if (readme !== undefined) written.set(readmePath, readme)
  // An empty readme file removes the readme.
  if (readme === "") written.delete(readmePath)
  const name = findFreeFolder(folder, val.name, false)
  const unfinished = join(folder, ".hamlet", "converting", name)
  rmSync(unfinished, { recursive: true, force: true })
  mkdirSync(unfinished, { recursive: true })
  for (const [path, text] of written) writeFileWhole(join(unfinished, path), text)
  saveCheckout(unfinished, {
    ...source,
    version: known && refused.size === 0 ? version : null,
    // Without its version, both sides have changed.
    files: known ? files : new Map(),
  })
  renameSync(unfinished, join(folder, name))
  return name
}

/** The folder of the val is there already. Texts that it does not have become conflict files. */
function keepTexts(
  deps: ConvertDeps,
  name: string,
  entry: string,
  { file, readme, base, val }: OldFile,
): void {
  const keep = (path: string, text: string) => {
    const full = join(deps.folder, name, path)
    if ((existsSync(full) ? readFileSync(full, "utf8") : "") === text) return
    const other = join(name, writeConflictFile(join(deps.folder, name), path, text))
    const sentence = `Cannot move "${file.path}" to "${join(name, path)}", which has another text; its text is in "${other}"`
    deps.report({ action: "conflict", file: file.path, val, other, text: sentence })
  }
  if (file.hash !== base?.hash) keep(entry, file.code)
  if (readme !== undefined && hashReadme(readme) !== base?.readmeHash) keep(readmePath, readme)
}

function findEntry(files: ReadonlyMap<string, BaseFile>, valId: string): string {
  const all = [...files].map(([path, { id, type }]) => ({ path, id, type }))
  const own = all.find(({ id }) => id === valId)
  return findEntryFile(all, own)?.path ?? newEntryPath
}

/** Moves a file and its readme to the trash, unless they have just changed. */
function discard(
  { folder, report }: ConvertDeps,
  state: FolderState,
  { file, readme }: Pick<OldFile, "file" | "readme">,
  reason?: string,
): StepResult {
  const { path, name, hash } = file
  const found = { path: toReadmePath(path), hash: hashText(readme ?? "") }
  const isReadmeGone = readme === undefined || discardFile(folder, found, { name }, reason)
  const event = isReadmeGone && discardFile(folder, { path, hash }, { name }, reason)
  if (!event) return "raced"
  if (event.action === "conflict") report(event)
  state.delete(join(folder, path))
  state.save()
  return "done"
}
