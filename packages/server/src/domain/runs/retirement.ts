import type { SavedText } from "@hamlet/sandbox"

/**
 * Selects processes that run outdated programs: those of an owner whose secrets changed, of a branch
 * with changed files, or of a val or version that was changed or deleted.
 */
export type Outdated =
  | { readonly ownerId: string }
  | { readonly branchId: string; readonly paths: readonly string[] }
  | { readonly valId: string; readonly version?: number }

/** Selects the processes of a user: those of their vals, and those on their account. */
export interface OfUser {
  readonly userId: string
}

/** What counts of a program for a selection. */
interface SelectableProgram {
  readonly ownerId: string
  readonly accountId: string
  readonly valId: string
  readonly version: number
  /** Whether it changes when these files of a branch do. */
  isMadeOf(branchId: string, paths: readonly string[]): boolean
}

/** Whether the program is among the selected ones. */
export function isSelected(program: SelectableProgram, selection: Outdated | OfUser): boolean {
  const { ownerId, accountId, valId, version } = program
  if ("userId" in selection) return ownerId === selection.userId || accountId === selection.userId
  if ("ownerId" in selection) return ownerId === selection.ownerId
  if ("paths" in selection) return program.isMadeOf(selection.branchId, selection.paths)
  return (
    valId === selection.valId && (selection.version === undefined || selection.version === version)
  )
}

/** Stops using processes whose code or secrets have changed. */
export interface Retirer {
  /** Prepares for runs of texts that were saved. Absent where nothing runs. */
  prepare?(ownerId: string, texts: readonly SavedText[]): void
  /** Processes of outdated programs finish their runs and accept no new ones. */
  retire(outdated: Outdated): void
}
