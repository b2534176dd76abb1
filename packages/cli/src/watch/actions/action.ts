import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { Client } from "@hamlet/contract/client"
import { type FileState, type FolderState, toFileState } from "../../files/folder-state.ts"
import { hashReadme, toReadmePath } from "../../files/readme-file.ts"
import { hashText } from "../../files/val-file.ts"
import type { Val } from "../../names/find-val.ts"
import type { Decision } from "../plan/decide.ts"
import type { Match } from "../plan/match-sides.ts"
import type { FoundFile } from "../scan-folder.ts"
import type { SyncEvent } from "../sync-event.ts"
import { moveIfPresent } from "./replace-file.ts"

/** What there is to do about one val. */
export interface Action {
  readonly match: Match
  readonly decision: Decision
  /** The val with its code, where that is needed. */
  readonly val: Val | undefined
}

/** What doing it needs. */
export interface ActionDeps {
  readonly client: Client
  readonly folder: string
  readonly state: FolderState
  /** The id of whoever the vals belong to. */
  readonly owner: string
  /** Whether there is something at a path of the folder, whatever its case. */
  isTaken(path: string): boolean
  report(event: SyncEvent): void
}

/**
 * `raced` when things have changed meanwhile: nothing is lost, and looking again shows what there
 * is to do.
 */
export type ActionResult = "done" | "raced"

/** One way to act. */
export type ActionHandler = (
  deps: ActionDeps,
  action: Action,
) => ActionResult | Promise<ActionResult>

/**
 * Notes what file and val have in common now; `before` is where the file was noted until now. What
 * is known of the readme is still known, and the readme goes along with its file.
 */
export function setBase(
  { state, folder }: ActionDeps,
  path: string,
  before: string | undefined,
  base: FileState,
): void {
  const noted = toReadmeState(state.get(join(folder, before ?? path)))
  if (before !== undefined && before !== path) {
    state.delete(join(folder, before))
    moveReadme(folder, before, path)
  }
  const { readmeHash: _readmeHash, readmeAt: _readmeAt, ...rest } = base
  state.set(join(folder, path), noted.readmeHash === undefined ? base : { ...rest, ...noted })
}

/** What a base says of the readme. */
export function toReadmeState({
  readmeHash,
  readmeAt,
}: Partial<FileState> = {}): Pick<FileState, "readmeHash" | "readmeAt"> {
  return {
    ...(readmeHash !== undefined && { readmeHash }),
    ...(readmeAt !== undefined && { readmeAt }),
  }
}

/**
 * What is noted of a val whose file has become the same as it. That it has no readme need not be
 * asked for again.
 */
export function toBase(val: Val, hash: string): FileState {
  const base = toFileState(val, hash)
  return val.readme ? base : { ...base, readmeHash: hashReadme(undefined), readmeAt: val.updatedAt }
}

/** The readme goes where its file has gone. */
export function moveReadme(folder: string, before: string, path: string): void {
  // Another file may have taken the place, and the readme with it.
  if (!existsSync(join(folder, before)))
    moveIfPresent(folder, toReadmePath(before), toReadmePath(path))
}

/** What a file has now, if that is what was found. */
export function readFound(
  folder: string,
  { path, hash }: Pick<FoundFile, "path" | "hash">,
): string | undefined {
  try {
    const text = readFileSync(join(folder, path), "utf8")
    return hashText(text) === hash ? text : undefined
  } catch {
    return undefined
  }
}
