import { existsSync, readFileSync } from "node:fs"
import { join, relative, resolve } from "node:path"
import { CliError } from "../cli-error.ts"
import type { Val } from "../names/find-val.ts"
import type { Privacy, ValType } from "../vals.ts"
import { hashText } from "./val-file.ts"
import { writeFileWhole } from "./write-file.ts"

/** What a folder knows of one of its files: which val it is, and as of when both were the same. */
export interface FileState {
  readonly id: string
  readonly version: number
  /** Of the file as it was then. */
  readonly hash: string
  /** Of its code. What follows is missing where an earlier program wrote it down. */
  readonly codeHash?: string
  /** The id of whoever the val belongs to. */
  readonly owner?: string
  readonly name?: string
  readonly privacy?: Privacy
  readonly type?: ValType
  /**
   * Of the readme when its file and the val had the same; see `hashReadme`. Missing where they
   * never had.
   */
  readonly readmeHash?: string
  /**
   * When the val had last changed as its readme was looked at: while that is so, it need not be
   * asked for.
   */
  readonly readmeAt?: string
  /**
   * The file was deleted and the val was left where it is: it is fetched again only once it has
   * changed.
   */
  readonly isLeft?: true
}

/** What a folder knows of its files, for one server. */
export interface FolderState {
  readonly folder: string
  /** By the path of the file in the folder. */
  readonly files: ReadonlyMap<string, FileState>
  get(path: string): FileState | undefined
  set(path: string, state: FileState): void
  delete(path: string): void
  /** Writes down what has changed. */
  save(): void
}

type Kept = Record<string, Record<string, FileState>>

/**
 * Opens what `.hamlet/state.json` in a folder says. It is of no use to anybody else, so the folder
 * `.hamlet` keeps itself out of Git. Without it a push makes or changes the val of that name; with
 * it, a push that would undo somebody else's change is refused.
 */
export function openFolderState(folder: string, serverUrl: string): FolderState {
  const path = join(folder, ".hamlet", "state.json")
  const kept = load(path)
  const files = new Map(Object.entries(kept[serverUrl] ?? {}))
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

/** What is noted of a val whose file has just become the same as it. */
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

function load(path: string): Kept {
  if (!existsSync(path)) return {}
  try {
    const kept = JSON.parse(readFileSync(path, "utf8"))
    if (isKept(kept)) return kept
  } catch (cause) {
    if (!(cause instanceof SyntaxError))
      throw new CliError("failed", `Cannot read "${path}": ${(cause as Error).message}`, { cause })
  }
  throw new CliError("failed", `Cannot read "${path}": it is not what this program writes`, {
    advice: "delete it, and pull anew what should be compared",
  })
}

function isKept(value: unknown): value is Kept {
  const isRecord = (one: unknown): one is Record<string, unknown> =>
    typeof one === "object" && one !== null
  if (!isRecord(value)) return false
  return Object.values(value).every(
    (files) =>
      isRecord(files) && Object.values(files).every((file) => isRecord(file) && isFileState(file)),
  )
}

function isFileState({ id, version, hash, isLeft, ...rest }: Record<string, unknown>): boolean {
  const isSure = typeof id === "string" && typeof version === "number" && typeof hash === "string"
  return (
    isSure &&
    (isLeft === undefined || isLeft === true) &&
    Object.values(rest).every((value) => typeof value === "string")
  )
}
