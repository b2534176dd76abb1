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

/** What doing it needs. */
export type ReadmeDeps = Pick<ActionDeps, "client" | "folder" | "owner" | "report"> & {
  readonly state: FolderState
}

/** A readme that may have to be carried over. */
export interface ReadmeTask {
  /** Of the val's file. */
  readonly path: string
  readonly base: FileState
  /** Of the readme beside it, where there is one. */
  readonly hash: string | undefined
}

/** What there is to do about a readme, as the val is at this moment. */
export interface ReadmeAction extends ReadmeTask {
  readonly kind: ReadmeDecision
  readonly val: Val
}

/**
 * The readmes that have changed in the folder, or may have on the server: nothing is asked for the
 * others.
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

/** Decides about a readme. Nothing is done about a val that is gone, or somebody else's. */
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

/** Carries a readme over. */
export async function performReadme(deps: ReadmeDeps, action: ReadmeAction): Promise<ActionResult> {
  const { kind, path, val } = action
  const result = kind === "note" ? "done" : await performs[kind](deps, action)
  if (result === "raced") return result
  const isSaved = kind === "save"
  const { readmeAt: _readmeAt, ...rest } = action.base
  // When it was saved is not known before the next look.
  const noted = isSaved
    ? { readmeHash: action.hash ?? "" }
    : { readmeHash: hashReadme(val.readme), readmeAt: val.updatedAt }
  deps.state.set(join(deps.folder, path), { ...rest, ...noted })
  const reported = reportedAs[kind]
  if (reported !== undefined) deps.report({ action: reported, file: toReadmePath(path), val })
  return result
}

/**
 * What is said of it; a conflict and what goes to the trash speak for themselves, for they know of
 * another file.
 */
const reportedAs: Readonly<Partial<Record<ReadmeDecision, SyncEvent["action"]>>> = {
  write: "wrote",
  save: "saved",
}

type PerformReadme = (
  deps: ReadmeDeps,
  action: ReadmeAction,
) => ActionResult | Promise<ActionResult>

const performs: Readonly<Record<Exclude<ReadmeDecision, "note">, PerformReadme>> = {
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
  const sentence = `Cannot save "${file}": both sides have changed; the file has the readme of ${val.name} now, and what it had is in "${other}"`
  report({ action: "conflict", file, val, other, text: sentence })
}

function readText(folder: string, path: string, hash: string | undefined): string | undefined {
  return hash === undefined ? undefined : readFound(folder, { path: toReadmePath(path), hash })
}
