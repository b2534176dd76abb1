import { rmSync } from "node:fs"
import { isRecord } from "@hamlet/contract/is-record"
import { findLocalPathProblem } from "../checkout/local-paths.ts"
import { CliError } from "../cli-error.ts"
import { findState, isId, toStatePath, writeState } from "../files/state-file.ts"

/** A merge into the branch of a folder that waits for decisions about files. */
export interface MergeState {
  /** The branch of the request, and which way its changes go. */
  readonly branchId: string
  readonly into: "parent" | "branch"
  /** The names of the branch that gets the changes, and of the other. */
  readonly ours: string
  readonly theirs: string
  readonly note?: string | undefined
  /** The versions with the texts of the conflicts. */
  readonly version: number
  readonly sourceVersion: number
  /** The conflicts; whether ours has the file. */
  readonly files: readonly { readonly path: string; readonly hasOurs: boolean }[]
  /** Whether all files were written: if not, what they contain is no decision. */
  readonly isWritten: boolean
}

/** The merge that waits in a folder, if any. */
export function findMerge(folder: string): MergeState | undefined {
  return findState(toPath(folder), isMergeState, "delete it, and merge again")
}

/** Records a merge. */
export function saveMerge(folder: string, state: MergeState): void {
  writeState(folder, toPath(folder), state)
}

/** Forgets a merge that has ended. */
export function removeMerge(folder: string): void {
  rmSync(toPath(folder), { force: true })
}

/** Refuses to save or to fetch while files contain both sides of conflicts. */
export function assertNotMerging(folder: string): void {
  const state = findMerge(folder)
  if (!state) return
  throw new CliError(
    "conflict",
    `Cannot do this while ${state.theirs} is being merged into ${state.ours}`,
    {
      advice:
        'resolve the conflicts and run "hamlet branch merge --continue", or give up with "hamlet branch merge --abort"',
    },
  )
}

function toPath(folder: string): string {
  return toStatePath(folder, "merge.json")
}

/** The folder may come from someone else: its state must not lead to files elsewhere. */
function isMergeState(value: unknown): value is MergeState {
  if (!isRecord(value)) return false
  const { branchId, into, ours, theirs, note, version, sourceVersion, files, isWritten } = value
  return (
    [ours, theirs].every((one) => typeof one === "string") &&
    isId(branchId) &&
    (into === "parent" || into === "branch") &&
    (note === undefined || typeof note === "string") &&
    [version, sourceVersion].every(Number.isSafeInteger) &&
    typeof isWritten === "boolean" &&
    Array.isArray(files) &&
    files.every(
      (one: unknown) =>
        isRecord(one) &&
        typeof one.path === "string" &&
        !findLocalPathProblem(one.path) &&
        typeof one.hasOurs === "boolean",
    )
  )
}
