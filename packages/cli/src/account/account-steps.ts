import { existsSync, renameSync } from "node:fs"
import { join } from "node:path"
import { unlessMissing } from "@hamlet/contract/client"
import { toArchive } from "../archive/write-archive.ts"
import { loadCheckout, saveCheckout } from "../checkout/checkout-state.ts"
import { type CloneSource, cloneInto } from "../checkout/open-checkout.ts"
import type { TreeScan } from "../checkout/scan-tree.ts"
import type { TreeDeps } from "../checkout/sync-tree.ts"
import { CliError } from "../cli-error.ts"
import { writeFileWhole } from "../files/write-file.ts"
import { toConflictPath } from "../watch/paths.ts"
import type { RoundStep, StepResult } from "../watch/perform-steps.ts"
import { findTrashPath, moveToTrash } from "../watch/replace-file.ts"
import type { SyncEvent } from "../watch/sync-event.ts"
import type { AccountRecord } from "./account-record.ts"
import type { Account } from "./account-state.ts"
import type { AccountStep } from "./plan-account.ts"
import type { ValState } from "./remote-vals.ts"
import { findFreeFolder } from "./val-folders.ts"

/** Dependencies of the steps in the folder of an account. */
export interface AccountStepDeps extends TreeDeps {
  readonly serverUrl: string
  readonly owner: Account["owner"]
  readonly record: AccountRecord
  /** What was found in the folder of a val. */
  getTree(name: string): TreeScan | undefined
  /** Synchronises the folder of a val. */
  sync(name: string, val: ValState): Promise<StepResult>
}

/** A step, as a round performs it. */
export function toRoundStep(deps: AccountStepDeps, step: AccountStep): RoundStep {
  const file = "folder" in step ? step.folder : "base" in step ? step.base.folder : toName(step)
  const val = "val" in step ? step.val : undefined
  const action = planned[step.kind]
  return {
    file,
    val,
    isRename: step.kind === "rename",
    planned: action && { action, file, val: val ?? { name: file } },
    // A dry run shows what would be done in the folder of a val.
    isHarmless: step.kind === "sync",
    perform: () => perform(deps, step),
  }
}

function toName(step: AccountStep): string {
  return "val" in step ? step.val.name : ""
}

const planned: Readonly<Partial<Record<AccountStep["kind"], SyncEvent["action"]>>> = {
  write: "wrote",
  create: "created",
  adopt: "merged",
  rename: "renamed",
  move: "renamed",
  leave: "left",
  delete: "deleted",
  discard: "trashed",
}

/** The dependencies of the folder of one val. Several are fetched at once, so there is no progress. */
export function inFolder<Deps extends Pick<TreeDeps, "folder" | "report" | "onFetch">>(
  deps: Deps,
  name: string,
): Deps {
  const report: TreeDeps["report"] = ({ file, other, text, ...event }) =>
    deps.report({
      ...event,
      file: join(name, file),
      other: other === undefined ? undefined : join(name, other),
      text: text === undefined ? undefined : `${name}: ${text}`,
    })
  const onFetch: TreeDeps["onFetch"] = { begin() {}, add() {}, end() {} }
  return { ...deps, folder: join(deps.folder, name), report, onFetch }
}

/** The branch main of a val, as the folder of the val records it. */
export function toSource(
  server: string,
  { id, name }: { readonly id: string; readonly name: string },
  username: string,
): CloneSource {
  return { server, val: { id, name, username }, branch: { id, name: "main" } }
}

async function perform(deps: AccountStepDeps, step: AccountStep): Promise<StepResult> {
  const { record } = deps
  switch (step.kind) {
    case "sync": {
      const result = await deps.sync(step.folder, step.val)
      // Only a version that the folder has seen is recorded: one that is deleted then is no surprise.
      if (result !== "raced") note(deps, step.folder, step.val)
      return result
    }
    case "write":
      return write(deps, step.val)
    case "create":
      return create(deps, step.folder)
    case "adopt":
      saveCheckout(join(deps.folder, step.folder), {
        ...toSource(deps.serverUrl, step.val, deps.owner.username),
        version: null,
        files: new Map(),
      })
      note(deps, step.folder, step.val)
      return "done"
    case "move":
      return move(deps, step.folder, step.val)
    case "rename":
      return rename(deps, step.folder, step.val)
    case "leave":
      record.set(step.val.id, { ...step.base, isLeft: true })
      reportLeft(deps, step.base.folder, step.val)
      return "done"
    case "delete":
      return deleteVal(deps, step.base.folder, step.val)
    case "discard":
      return discard(deps, step.folder, step.id)
    case "forget":
      record.delete(step.id)
      return "noted"
    case "ask":
      return ask(deps, step.folder, step.id)
  }
}

/** Records that a folder is that of a val. */
function note(
  { record }: AccountStepDeps,
  folder: string,
  { id, name, version }: Pick<ValState, "id" | "name" | "version">,
): void {
  record.set(id, { folder, name, version })
}

async function write(deps: AccountStepDeps, val: ValState): Promise<StepResult> {
  const name = findFreeFolder(deps.folder, val.name)
  const source = toSource(deps.serverUrl, val, deps.owner.username)
  const { isRaced } = await cloneInto(inFolder(deps, name), source, false)
  note(deps, name, val)
  return isRaced ? "raced" : "done"
}

/** Creates a val without files. The next round saves those of the folder as its first version. */
async function create(deps: AccountStepDeps, folder: string): Promise<StepResult> {
  const made = await deps.client.createFolder({ name: folder, privacy: "private" })
  const val = { id: made.id, name: made.name, version: 0 }
  saveCheckout(join(deps.folder, folder), {
    ...toSource(deps.serverUrl, val, deps.owner.username),
    version: 0,
    files: new Map(),
  })
  note(deps, folder, val)
  deps.report({ action: "created", file: folder, val })
  return "done"
}

/** Renames the folder with its val, unless the name is taken. */
function move(deps: AccountStepDeps, before: string, val: ValState): StepResult {
  const name = findFreeFolder(deps.folder, val.name)
  const isFree = name === val.name && !existsSync(join(deps.folder, name))
  note(deps, isFree ? name : before, val)
  if (!isFree) return "noted"
  renameSync(join(deps.folder, before), join(deps.folder, name))
  deps.report({ action: "renamed", file: name, val, other: before })
  return "done"
}

async function rename(
  deps: AccountStepDeps,
  name: string,
  { id, name: before, version }: ValState,
): Promise<StepResult> {
  await deps.client.updateVal({ val_id: id, name }, { ifMatch: version })
  deps.record.set(id, { folder: name, name, version })
  deps.report({ action: "renamed", file: name, val: { id, name, version }, other: before })
  return "done"
}

function reportLeft({ report }: AccountStepDeps, file: string, val: ValState): void {
  const advice = `delete it with "hamlet val rm ${val.name}", or fetch it again with "hamlet val pull ${val.name}"`
  const text = `"${file}" was deleted and the val ${val.name} was kept; ${advice}`
  report({ action: "left", file, val, text })
}

/** Deletes a val, after an archive with all of its versions is in the trash. */
async function deleteVal(
  { client, folder, serverUrl, owner, record, report }: AccountStepDeps,
  file: string,
  { id, version }: ValState,
): Promise<StepResult> {
  const val = await client.getVal({ val_id: id })
  const other = findTrashPath(folder, `${val.name}.zip`)
  const source = { client, server: serverUrl, user: owner.username }
  writeFileWhole(join(folder, other), await toArchive(source, val))
  await client.deleteVal({ val_id: id }, { ifMatch: version })
  record.delete(id)
  report({ action: "deleted", file, val, other })
  return "done"
}

/** Moves the folder of a deleted val to the trash. One with changes becomes a conflict folder. */
async function discard(deps: AccountStepDeps, name: string, id: string): Promise<StepResult> {
  const { client, folder, record, report } = deps
  // The list may be older than the val.
  if (await unlessMissing(client.getVal({ val_id: id }))) return ask(deps, name, id)
  const tree = deps.getTree(name)
  if (!tree || tree.isUnsettled) return "noted"
  const checkout = loadCheckout(join(folder, name))
  const val = { id, name: checkout.val.name }
  const isSame =
    tree.blocked.size === 0 &&
    [...tree.files].every(([path, { hash }]) => checkout.files.get(path)?.hash === hash)
  if (isSame) report({ action: "trashed", file: name, val, other: moveToTrash(folder, name) })
  else {
    const other = findConflictFolder(folder, name)
    renameSync(join(folder, name), join(folder, other))
    const text = `Cannot save "${name}": the val was deleted; its files are in "${other}"`
    report({ action: "conflict", file: name, val, other, text })
  }
  record.delete(id)
  return "done"
}

function findConflictFolder(folder: string, name: string): string {
  for (let n = 1; ; n++) {
    const other = toConflictPath(name, n)
    if (!existsSync(join(folder, other))) return other
  }
}

/** Finds out why a val is not in the list of the owner's vals. */
async function ask(
  { client, owner }: AccountStepDeps,
  folder: string,
  id: string,
): Promise<StepResult> {
  const val = await unlessMissing(client.getVal({ val_id: id }))
  // The val was created after the list was made.
  if (val?.author.id === owner.id) return "raced"
  const problem = val ? "its val belongs to another user" : "its val was deleted"
  throw new CliError("failed", `Cannot watch "${folder}": ${problem}`, {
    advice: val
      ? "move it to another folder"
      : `make a new val of it with "hamlet val push --create NAME"`,
  })
}
