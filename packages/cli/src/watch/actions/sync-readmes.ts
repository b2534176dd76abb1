import { existsSync } from "node:fs"
import { join } from "node:path"
import { ApiError } from "@hamlet/contract/client"
import type { FileState, FolderState } from "../../files/folder-state.ts"
import { hashReadme, toReadmeField, toReadmePath } from "../../files/readme-file.ts"
import type { Val } from "../../names/find-val.ts"
import { decideReadme, type ReadmeDecision } from "../plan/decide-readme.ts"
import type { ValState } from "../remote-vals.ts"
import type { Scan } from "../scan-folder.ts"
import type { SyncEvent } from "../sync-event.ts"
import { type ActionDeps, type ActionResult, readFound } from "./action.ts"
import { makeFile, moveToTrash, replaceFile, writeConflictFile } from "./replace-file.ts"

/** Dependencies of readme actions. */
export type ReadmeDeps = Pick<ActionDeps, "client" | "folder" | "owner" | "report"> & {
  readonly state: FolderState
}

/** A readme that may have changed. */
export interface ReadmeTask {
  /** The path of the val's file. */
  readonly path: string
  readonly base: FileState
  /** The hash of the readme beside it, if any. */
  readonly hash: string | undefined
}

/** The action to take for a readme, with the current val. */
export interface ReadmeAction extends ReadmeTask {
  readonly kind: ReadmeDecision
  readonly val: Val
}

/**
 * Lists the readmes that changed in the folder or may have changed on the server; the others need
 * no request.
 */
export function listReadmeTasks(
  folder: string,
  state: FolderState,
  scan: Scan,
  vals: readonly ValState[],
): readonly ReadmeTask[] {
  const byId = new Map(vals.map((val) => [val.id, val]))
  return [...state.files].flatMap(([path, base]): readonly ReadmeTask[] => {
    const val = byId.get(base.id)
    const found = scan.readmes.get(toReadmePath(path))
    if (!val || base.isLeft || path.startsWith("..") || scan.blocked.has(path)) return []
    if (found && found.hash === undefined) return []
    const isSame =
      base.readmeAt === val.updatedAt && (found === undefined || found.hash === base.readmeHash)
    return isSame || !existsSync(join(folder, path)) ? [] : [{ path, base, hash: found?.hash }]
  })
}

/** Decides what to do about a readme. Nothing if the val is deleted or belongs to another user. */
export async function planReadme(
  { client, owner }: ReadmeDeps,
  task: ReadmeTask,
): Promise<ReadmeAction | undefined> {
  try {
    const val = await client.getVal({ val_id: task.base.id })
    const kind = decideReadme({
      base: task.base.readmeHash,
      file: task.hash,
      val: hashReadme(val.readme),
    })
    return val.author.id === owner ? { ...task, val, kind } : undefined
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined
    throw error
  }
}

/** Performs a readme action. */
export async function performReadme(deps: ReadmeDeps, action: ReadmeAction): Promise<ActionResult> {
  const { kind, path, val } = action
  const result = kind === "note" ? "done" : await handlers[kind](deps, action)
  if (result === "raced") return result
  const isSaved = kind === "save"
  const { readmeAt: _readmeAt, ...rest } = action.base
  // The val's new `updatedAt` is known only in the next round.
  const recorded = isSaved
    ? { readmeHash: action.hash ?? "" }
    : { readmeHash: hashReadme(val.readme), readmeAt: val.updatedAt }
  deps.state.set(join(deps.folder, path), { ...rest, ...recorded })
  const reported = reportedAs[kind]
  if (reported !== undefined) deps.report({ action: reported, file: toReadmePath(path), val })
  return result
}

/**
 * How actions are reported. Conflicts and moves to the trash report themselves, with the other
 * file.
 */
const reportedAs: Readonly<Partial<Record<ReadmeDecision, SyncEvent["action"]>>> = {
  write: "wrote",
  save: "saved",
}

type ReadmeHandler = (
  deps: ReadmeDeps,
  action: ReadmeAction,
) => ActionResult | Promise<ActionResult>

const handlers: Readonly<Record<Exclude<ReadmeDecision, "note">, ReadmeHandler>> = {
  write(deps, { path, hash, val }) {
    const readme = val.readme ?? ""
    return hash === undefined
      ? makeFile(deps.folder, toReadmePath(path), readme)
      : overwrite(deps, path, hash, val)
  },
  async save({ client, folder }, { path, hash, val }) {
    const text = readText(folder, path, hash)
    if (text === undefined) return "raced"
    await client.updateVal(
      { val_id: val.id, readme: toReadmeField(text) },
      { ifMatch: val.version },
    )
    return "done"
  },
  trash({ folder, report }, { path, hash, val }) {
    if (readText(folder, path, hash) === undefined) return "raced"
    const file = toReadmePath(path)
    report({ action: "trashed", file, val, other: moveToTrash(folder, file) })
    return "done"
  },
  conflict(deps, { path, hash, val }) {
    const text = readText(deps.folder, path, hash)
    if (text === undefined || hash === undefined) return "raced"
    reportReadmeConflict(deps, path, text, val)
    return overwrite(deps, path, hash, val)
  },
}

function overwrite(deps: ReadmeDeps, path: string, hash: string, val: Val): ActionResult {
  return replaceFile(deps.folder, toReadmePath(path), hash, val.readme ?? "", (late) =>
    reportReadmeConflict(deps, path, late, val),
  )
}

function reportReadmeConflict(
  { folder, report }: ReadmeDeps,
  path: string,
  text: string,
  val: Val,
): void {
  const file = toReadmePath(path)
  const other = writeConflictFile(folder, file, text)
  const sentence = `Cannot save "${file}": both the file and the val have changed; the file now has the readme of ${val.name}, and its previous text is in "${other}"`
  report({ action: "conflict", file, val, other, text: sentence })
}

function readText(folder: string, path: string, hash: string | undefined): string | undefined {
  return hash === undefined ? undefined : readFound(folder, { path: toReadmePath(path), hash })
}
