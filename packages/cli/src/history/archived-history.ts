import type { Input } from "@hamlet/contract/client"
import { isRecord } from "@hamlet/contract/is-record"
import { CliError } from "../cli-error.ts"

/** A change of a version, as the API takes it. */
export type ArchivedChange = Input<"changeFiles">["changes"][number]

/** A version of a branch: what it has changed in the one before. */
export interface ArchivedVersion {
  readonly version: number
  readonly createdAt: string
  readonly note: string | null
  readonly changes: readonly ArchivedChange[]
}

/**
 * A branch with all its versions, oldest first. The first one of a branch that was made from another
 * is the copy that it began with.
 */
export interface ArchivedBranch {
  readonly name: string
  /** The branch that it was made from; null for `main`. */
  readonly from: string | null
  readonly createdAt: string
  readonly versions: readonly ArchivedVersion[]
}

/** Reads the history of an archived val; undefined if it has none. The server checks the changes. */
export function readBranches(path: string, value: unknown): readonly ArchivedBranch[] | undefined {
  if (value === undefined) return undefined
  const [main] = Array.isArray(value) ? value : []
  if (!Array.isArray(value) || !value.every(isBranch) || main?.name !== "main")
    throw new CliError("failed", `Cannot make a val of "${path}": its "branches" is not a history`)
  return value
}

/** The texts of files after some versions, by path. */
export function toTexts(versions: readonly ArchivedVersion[]): ReadonlyMap<string, string> {
  const files = new Map<string, string>()
  for (const { changes } of versions) for (const change of changes) apply(files, change)
  return files
}

function apply(files: Map<string, string>, change: ArchivedChange): void {
  if ("delete" in change) {
    for (const path of files.keys())
      if (path === change.path || path.startsWith(`${change.path}/`)) files.delete(path)
    return
  }
  const before = files.get(change.path)
  if ("newPath" in change) files.delete(change.path)
  const path = "newPath" in change ? change.newPath : change.path
  const text = change.content ?? ("newPath" in change ? before : undefined)
  if (text !== undefined) files.set(path, text)
}

function isBranch(value: unknown): value is ArchivedBranch {
  return (
    isRecord(value) &&
    [value.name, value.createdAt].every((one) => typeof one === "string") &&
    (value.from === null || typeof value.from === "string") &&
    Array.isArray(value.versions) &&
    value.versions.every(isVersion)
  )
}

function isVersion(value: unknown): value is ArchivedVersion {
  return (
    isRecord(value) &&
    Number.isSafeInteger(value.version) &&
    typeof value.createdAt === "string" &&
    (value.note === null || typeof value.note === "string") &&
    Array.isArray(value.changes) &&
    value.changes.every((one: unknown) => isRecord(one) && typeof one.path === "string")
  )
}
