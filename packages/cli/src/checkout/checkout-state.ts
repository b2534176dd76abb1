import { dirname, resolve } from "node:path"
import type { Output } from "@hamlet/contract/client"
import { isRecord } from "@hamlet/contract/is-record"
import { fileTypes } from "@hamlet/contract/lists"
import { CliError } from "../cli-error.ts"
import { findState, isId, toStatePath, writeState } from "../files/state-file.ts"
import { findLocalPathProblem } from "./local-paths.ts"

/** What a file of a val is for. */
export type FileType = Output<"getFile">["type"]

/** What a folder records of one file: the state in which file and val last agreed. */
export interface BaseFile {
  readonly id: string
  readonly type: FileType
  /** The version of the branch in which it last changed. */
  readonly version: number
  readonly hash: string
}

/** A folder that contains the files of one branch of a val. */
export interface Checkout {
  readonly server: string
  readonly val: { readonly id: string; readonly name: string; readonly username: string }
  readonly branch: { readonly id: string; readonly name: string }
  /** The version whose files are recorded; null if they are of several versions. */
  readonly version: number | null
  readonly files: ReadonlyMap<string, BaseFile>
  /** What was being written when this was recorded: files that already have that hash are it. */
  readonly pending?: ReadonlyMap<string, BaseFile>
}

/**
 * Finds the folder of one val that a path is in: it or one of its parents has a `.hamlet/state.json`
 * that names a val.
 */
export function findCheckoutFolder(path: string): string | undefined {
  for (let folder = resolve(path); ; folder = dirname(folder)) {
    if (isCheckoutFolder(folder)) return folder
    if (folder === dirname(folder)) return undefined
  }
}

/** Whether a folder contains the files of one val. */
export function isCheckoutFolder(folder: string): boolean {
  return "val" in (findState(toStatePath(folder), isRecord, advice) ?? {})
}

/** Reads the state of a folder of one val. */
export function loadCheckout(folder: string): Checkout {
  const checkout = findCheckout(folder)
  if (checkout) return checkout
  throw new CliError("failed", `Cannot read "${toStatePath(folder)}": there is no such file`)
}

/** Reads the state of a folder; undefined if it is not that of one val. */
export function findCheckout(folder: string): Checkout | undefined {
  const found = findState(toStatePath(folder), isStateOrOther, advice)
  if (!found || !isState(found)) return undefined
  const { files, pending = {}, ...rest } = found.val
  return {
    ...rest,
    files: new Map(Object.entries(files)),
    pending: new Map(Object.entries(pending)),
  }
}

/** Writes the state of a folder of one val. */
export function saveCheckout(folder: string, checkout: Checkout): void {
  const { files, pending, ...rest } = checkout
  const stored = {
    ...rest,
    files: Object.fromEntries(files),
    ...(pending && pending.size > 0 && { pending: Object.fromEntries(pending) }),
  }
  writeState(folder, toStatePath(folder), { val: stored })
}

/** The val of a folder as events and messages name it. */
export function toCheckoutName({ val, branch }: Checkout): string {
  const name = `${val.username}/${val.name}`
  return branch.name === "main" ? name : `${name} on ${branch.name}`
}

const advice = "delete it, and clone the val again"

type Files = Readonly<Record<string, BaseFile>>
type Stored = Omit<Checkout, "files" | "pending"> & {
  readonly files: Files
  readonly pending?: Files
}

/** A folder in which each val is a file has a state without that of a val. */
function isStateOrOther(value: unknown): value is Readonly<Record<string, unknown>> {
  return isRecord(value) && (!("val" in value) || isState(value))
}

function isState(value: unknown): value is { readonly val: Stored } {
  return isRecord(value) && isStored(value.val)
}

/** The folder may come from someone else: its state must not lead to files elsewhere. */
function isStored(value: unknown): value is Stored {
  if (!isRecord(value)) return false
  const { server, val, branch, version, files, pending = {} } = value
  return (
    typeof server === "string" &&
    (version === null || isVersion(version)) &&
    [val, branch].every((one) => isRecord(one) && isId(one.id) && typeof one.name === "string") &&
    typeof (val as { username?: unknown }).username === "string" &&
    isFiles(files) &&
    isFiles(pending)
  )
}

function isFiles(value: unknown): value is Files {
  return (
    isRecord(value) &&
    Object.entries(value).every(([path, file]) => !findLocalPathProblem(path) && isBaseFile(file))
  )
}

function isBaseFile(value: unknown): value is BaseFile {
  return (
    isRecord(value) &&
    isId(value.id) &&
    isVersion(value.version) &&
    (fileTypes as readonly unknown[]).includes(value.type) &&
    typeof value.hash === "string"
  )
}

function isVersion(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
