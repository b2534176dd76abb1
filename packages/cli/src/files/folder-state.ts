import { isAbsolute, relative, resolve } from "node:path"
import { isRecord } from "@hamlet/contract/is-record"
import { CliError } from "../cli-error.ts"
import type { Val } from "../names/find-val.ts"
import type { Privacy, ValType } from "../vals.ts"
import { findState, toStatePath, writeState } from "./state-file.ts"

/**
 * What a folder records of one of its files: which val it is, and the state in which both last
 * agreed.
 */
export interface FileState {
  readonly id: string
  readonly version: number
  /** The hash of the whole file in that state. */
  readonly hash: string
  /** The id of the val's owner. This and the fields below are missing in states of older versions. */
  readonly owner?: string
  readonly name?: string
  readonly privacy?: Privacy
  readonly type?: ValType
  /**
   * The hash of the readme when its file and the val last agreed; see `hashReadme`. Missing if they
   * never did.
   */
  readonly readmeHash?: string
  /** An older `hamlet val watch` found the file deleted, and kept the val. */
  readonly isLeft?: true
}

/** The recorded files of a folder, for one server. */
export interface FolderState {
  readonly folder: string
  /** Keyed by path relative to the folder. */
  readonly files: ReadonlyMap<string, FileState>
  get(path: string): FileState | undefined
  set(path: string, state: FileState): void
  delete(path: string): void
  /** Writes the changes to disk. */
  save(): void
}

type StoredState = Record<string, Record<string, FileState>>

/**
 * Opens `.hamlet/state.json` of a folder. Without it, a push creates or updates the val of that
 * name; with it, a push that would overwrite newer changes is refused.
 */
export function openFolderState(folder: string, serverUrl: string): FolderState {
  const path = toStatePath(folder)
  const load = () => loadState(folder, path)
  const stored = load()
  const files = new Map(Object.entries(stored[serverUrl] ?? {}))
  const toKey = (file: string) => relative(resolve(folder), resolve(file))
  return {
    folder,
    files,
    get: (file) => files.get(toKey(file)),
    set: (file, state) => files.set(toKey(file), state),
    delete: (file) => files.delete(toKey(file)),
    save: () => writeState(folder, path, { ...load(), [serverUrl]: Object.fromEntries(files) }),
  }
}

/** The state to record when a val and its file agree. */
export function toFileState(val: Val, hash: string, readmeHash?: string): FileState {
  const { id, version, name, privacy, type, author } = val
  const state = {
    id,
    version,
    hash,
    owner: author.id,
    name,
    privacy,
    type,
  }
  return readmeHash === undefined ? state : { ...state, readmeHash }
}

function loadState(folder: string, path: string): StoredState {
  const stored = findState(path, isKnownState, "delete it, and pull the vals again") ?? {}
  if (isStoredState(stored)) return stored
  throw new CliError("usage", `Cannot use "${folder}": it is the folder of one val`, {
    advice: "name another folder",
  })
}

function isKnownState(value: unknown): value is StoredState | { readonly val: unknown } {
  return isRecord(value) && ("val" in value || isStoredState(value))
}

function isStoredState(value: unknown): value is StoredState {
  if (!isRecord(value) || "val" in value) return false
  return Object.values(value).every(
    (files) =>
      isRecord(files) &&
      Object.entries(files).every(
        ([path, file]) => isInside(path) && isRecord(file) && isFileState(file),
      ),
  )
}

/** The folder may come from someone else: its state must not lead to files elsewhere. */
function isInside(path: string): boolean {
  return !isAbsolute(path) && !path.split(/[/\\]/).includes("..")
}

function isFileState({ id, version, hash, isLeft, ...rest }: Record<string, unknown>): boolean {
  const isSure = typeof id === "string" && typeof version === "number" && typeof hash === "string"
  return (
    isSure &&
    (isLeft === undefined || isLeft === true) &&
    Object.values(rest).every((value) => typeof value === "string")
  )
}
