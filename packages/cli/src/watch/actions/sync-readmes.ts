import { existsSync } from "node:fs"
import { join } from "node:path"
import { unlessMissing } from "@hamlet/contract/client"
import type { FileState, FolderState } from "../../files/folder-state.ts"
import { hashReadme, toReadmeField, toReadmePath } from "../../files/readme-file.ts"
import type { Val } from "../../names/find-val.ts"
import type { RoundStep, StepResult } from "../perform-steps.ts"
import { decideReadme, type ReadmeDecision } from "../plan/decide-readme.ts"
import type { ValState } from "../remote-vals.ts"
import type { Scan } from "../scan-folder.ts"
import { stepActions } from "../sync-event.ts"
import type { ActionDeps } from "./action.ts"
import { discardFile, overwriteFile, readFound, reportConflict } from "./keep-texts.ts"
import { makeFile } from "./replace-file.ts"

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

interface ReadmeAction extends ReadmeTask {
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
    const isBlocked = [path, toReadmePath(path)].some((one) => scan.blocked.has(one))
    if (!val || base.isLeft || path.startsWith("..") || isBlocked) return []
    const hash = scan.readmes.get(toReadmePath(path))
    const isSame =
      base.readmeAt === val.updatedAt && (hash === undefined || hash === base.readmeHash)
    return isSame || !existsSync(join(folder, path)) ? [] : [{ path, base, hash }]
  })
}

/**
 * One by one: each val is fetched right before its readme is saved, because no version protects a
 * readme.
 */
export async function* toReadmeSteps(
  deps: ReadmeDeps,
  tasks: readonly ReadmeTask[],
): AsyncGenerator<RoundStep> {
  for (const task of tasks) {
    const val = await unlessMissing(deps.client.getVal({ val_id: task.base.id }))
    // Deleted, or of another user.
    if (val?.author.id !== deps.owner) continue
    const hashes = { base: task.base.readmeHash, file: task.hash, val: hashReadme(val.readme) }
    const action = { ...task, val, kind: decideReadme(hashes) }
    const file = toReadmePath(task.path)
    const word = stepActions[action.kind]
    yield {
      file,
      planned: word && { action: word, file, val },
      perform: () => performReadme(deps, action),
    }
  }
}

async function performReadme(deps: ReadmeDeps, action: ReadmeAction): Promise<StepResult> {
  const { kind, path, val } = action
  const result = kind === "note" ? "noted" : await handlers[kind](deps, action)
  if (result === "raced") return result
  const { readmeAt: _readmeAt, ...rest } = action.base
  // The val's new `updatedAt` is known only in the next round.
  const recorded =
    kind === "save"
      ? { readmeHash: action.hash ?? "" }
      : { readmeHash: hashReadme(val.readme), readmeAt: val.updatedAt }
  deps.state.set(join(deps.folder, path), { ...rest, ...recorded })
  // The others report themselves, with the other file.
  const reported = kind === "write" || kind === "save" ? stepActions[kind] : undefined
  if (reported) deps.report({ action: reported, file: toReadmePath(path), val })
  return result
}

type ReadmeHandler = (deps: ReadmeDeps, action: ReadmeAction) => StepResult | Promise<StepResult>

const handlers: Readonly<Record<Exclude<ReadmeDecision, "note">, ReadmeHandler>> = {
  write(deps, { path, hash, val }) {
    const readme = val.readme ?? ""
    return hash === undefined
      ? makeFile(deps.folder, toReadmePath(path), readme)
      : overwriteFile(deps, { path: toReadmePath(path), hash }, readme, val, toNow(val))
  },
  async save({ client, folder }, { path, hash = "", val }) {
    const text = readFound(folder, { path: toReadmePath(path), hash })
    if (text === undefined) return "raced"
    await client.updateVal(
      { val_id: val.id, readme: toReadmeField(text) },
      { ifMatch: val.version },
    )
    return "done"
  },
  trash({ folder, report }, { path, hash = "", val }) {
    const event = discardFile(folder, { path: toReadmePath(path), hash }, val)
    if (!event) return "raced"
    report(event)
    return "done"
  },
  conflict(deps, { path, hash = "", val }) {
    const found = { path: toReadmePath(path), hash }
    const text = readFound(deps.folder, found)
    if (text === undefined) return "raced"
    reportConflict(deps, found.path, text, val, toNow(val))
    return overwriteFile(deps, found, val.readme ?? "", val, toNow(val))
  },
}

function toNow({ name }: Val): string {
  return `the file now has the readme of ${name}`
}
