/**
 * Selects processes that run outdated programs: those of an owner whose secrets changed, of a branch
 * with changed files, or of a val or version that was changed or deleted.
 */
export type Outdated =
  | { readonly ownerId: string }
  | { readonly branchId: string; readonly paths: readonly string[] }
  | { readonly valId: string; readonly version?: number }

/** Whether the program is among the outdated ones. */
export function isOutdated(
  program: {
    readonly ownerId: string
    readonly valId: string
    readonly version: number
    isMadeOf(branchId: string, paths: readonly string[]): boolean
  },
  outdated: Outdated,
): boolean {
  if ("ownerId" in outdated) return program.ownerId === outdated.ownerId
  if ("paths" in outdated) return program.isMadeOf(outdated.branchId, outdated.paths)
  return (
    program.valId === outdated.valId &&
    (outdated.version === undefined || outdated.version === program.version)
  )
}

/** The text of a file. */
export interface SavedText {
  readonly path: string
  readonly code: string
}

/** Stops using processes whose code or secrets have changed. */
export interface Retirer {
  /** Prepares for runs of texts that were saved. Absent where nothing runs. */
  prepare?(ownerId: string, texts: readonly SavedText[]): void
  /** Processes of outdated programs finish their runs and accept no new ones. */
  retire(outdated: Outdated): void
}
