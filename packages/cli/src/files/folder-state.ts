import { existsSync, readFileSync } from "node:fs"
import { dirname, isAbsolute, join, relative, resolve } from "node:path"
import { CliError } from "../cli-error.ts"
import type { Val } from "../names/find-val.ts"
import type { Privacy, ValType } from "../vals.ts"
import { hashText } from "./val-file.ts"
import { writeFileWhole } from "./write-file.ts"

/**
 * What a folder records of one of its files: which val it is, and the state in which both last
 * agreed.
 */
export interface FileState {
  readonly id: string
  readonly version: number
  /** The hash of the whole file in that state. */
  readonly hash: string
  /**
   * The hash of its code. This and the fields below are missing in states that older versions
   * wrote.
   */
  readonly codeHash?: string
  /** The id of the val's owner. */
  readonly owner?: string
  readonly name?: string
  readonly privacy?: Privacy
  readonly type?: ValType
  /**
   * The hash of the readme when its file and the val last agreed; see `hashReadme`. Missing if they
   * never did.
   */
  readonly readmeHash?: string
  /**
   * The val's `updatedAt` when its readme was last fetched: while it is the same, the readme is
   * too.
   */
  readonly readmeAt?: string
  /** The file was deleted and the val was kept: it is fetched again only after it changes. */
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
 * Opens `.hamlet/state.json` of a folder. The state is local, so `.hamlet` excludes itself from
 * Git. Without it, a push creates or updates the val of that name; with it, a push that would
 * overwrite newer changes is refused.
 */
export function openFolderState(folder: string, serverUrl: string): FolderState {
  const path = join(folder, ".hamlet", "state.json")
  const stored = load(path)
  const files = new Map(Object.entries(stored[serverUrl] ?? {}))
  const toKey = (file: string) => relative(resolve(folder), resolve(file))
  return {
    folder,
    files,
    get: (file) => files.get(toKey(file)),
    set: (file, state) => files.set(toKey(file), state),
    delete: (file) => files.delete(toKey(file)),
    save() {
      const ignored = join(folder, ".hamlet", ".gitignore")
      if (!existsSync(ignored)) writeFileWhole(ignored, "*\n")
      writeFileWhole(
        path,
        `${JSON.stringify({ ...load(path), [serverUrl]: Object.fromEntries(files) }, undefined, 2)}\n`,
      )
    },
  }
}

/** The state to record when a val and its file agree. */
export function toFileState(val: Val, hash: string, readmeHash?: string): FileState {
  const { id, version, name, privacy, type, code, author } = val
  const state = {
    id,
    version,
    hash,
    codeHash: hashText(code),
    owner: author.id,
    name,
    privacy,
    type,
  }
  return readmeHash === undefined ? state : { ...state, readmeHash }
}

function load(path: string): StoredState {
  if (!existsSync(path)) return {}
  try {
    const stored = JSON.parse(readFileSync(path, "utf8"))
    if (stored?.val !== undefined)
      throw new CliError(
        "usage",
        `Cannot use "${dirname(dirname(path))}": it is the folder of one val`,
        {
          advice: "name another folder",
        },
      )
    if (isStoredState(stored)) return stored
  } catch (cause) {
    if (cause instanceof CliError) throw cause
    if (!(cause instanceof SyntaxError))
      throw new CliError("failed", `Cannot read "${path}": ${(cause as Error).message}`, { cause })
  }
  throw new CliError("failed", `Cannot read "${path}": its content is not valid`, {
    advice: "delete it, and pull the vals again",
  })
}

function isStoredState(value: unknown): value is StoredState {
  const isRecord = (one: unknown): one is Record<string, unknown> =>
    typeof one === "object" && one !== null
  if (!isRecord(value)) return false
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
