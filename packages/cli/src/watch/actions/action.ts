import { existsSync } from "node:fs"
import { join } from "node:path"
import type { Client } from "@hamlet/contract/client"
import { type FileState, type FolderState, toFileState } from "../../files/folder-state.ts"
import { hashReadme, toReadmePath } from "../../files/readme-file.ts"
import type { Val } from "../../names/find-val.ts"
import type { StepResult } from "../perform-steps.ts"
import type { Decision } from "../plan/decide.ts"
import type { Match } from "../plan/match-sides.ts"
import type { KeepDeps } from "./keep-texts.ts"
import { moveIfPresent } from "./replace-file.ts"

/** An action to take for one val. */
export interface Action {
  readonly match: Match
  readonly decision: Decision
  /** The val with its code, if the action needs it. */
  readonly val: Val | undefined
}

/** Dependencies of the actions. */
export interface ActionDeps extends KeepDeps {
  readonly client: Client
  readonly state: FolderState
  /** The id of the vals' owner. */
  readonly owner: string
  /** Whether a path in the folder is taken, ignoring case. */
  isTaken(path: string): boolean
}

/** Performs one kind of action. */
export type ActionHandler = (deps: ActionDeps, action: Action) => StepResult | Promise<StepResult>

/**
 * Records the state in which file and val agree. `before` is the path under which the file was
 * recorded. Keeps what is recorded of the readme, and moves the readme with its file.
 */
export function setBase(
  { state, folder }: ActionDeps,
  path: string,
  before: string | undefined,
  base: FileState,
): void {
  const readmeState = toReadmeState(state.get(join(folder, before ?? path)))
  if (before !== undefined && before !== path) {
    state.delete(join(folder, before))
    moveReadme(folder, before, path)
  }
  const { readmeHash: _readmeHash, readmeAt: _readmeAt, ...rest } = base
  state.set(
    join(folder, path),
    readmeState.readmeHash === undefined ? base : { ...rest, ...readmeState },
  )
}

/** The readme fields of a base. */
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
 * The state to record for a val and its file. A val without a readme need not be fetched for it
 * again.
 */
export function toBase(val: Val, hash: string): FileState {
  const base = toFileState(val, hash)
  return val.readme ? base : { ...base, readmeHash: hashReadme(undefined), readmeAt: val.updatedAt }
}

/** Moves a readme along with its file. */
export function moveReadme(folder: string, before: string, path: string): void {
  // Another file may be there now, and own the readme.
  if (!existsSync(join(folder, before)))
    moveIfPresent(folder, toReadmePath(before), toReadmePath(path))
}
