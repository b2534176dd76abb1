import type { SavedVersion } from "./version-files.ts"

/** A branch of a val that a file imports, resolved to its current state. */
export interface ResolvedImport {
  /** See `toBranchKey`. */
  readonly address: string
  /** All specifiers that the code uses for it; null for versions saved before these were stored. */
  readonly specifiers: readonly string[] | null
  readonly isPinned: boolean
  /** The time as of which a pinned val imports in turn. */
  readonly pinnedAt: number
  /** Undefined when it does not exist, or the owner of the importing val may not see it. */
  readonly target: ImportTarget | undefined
  /** The version to use where the code names none; undefined when it was deleted. */
  readonly version: SavedVersion | undefined
}

/** The branch that an import means. */
export interface ImportTarget {
  readonly valId: string
  readonly ownerId: string
  readonly ownerName: string
  readonly valName: string
  readonly branchId: string
  readonly branchName: string
}

/** A file of a branch, since the version in which it last changed. */
interface ImportingFile {
  readonly branchId: string
  readonly path: string
  readonly since: number
}

/** Stores what files import. */
export interface ImportStore {
  /** Unpinned imports resolve to the versions that were current at `asOf`; null means now. */
  find(file: ImportingFile, asOf: number | null): Promise<readonly ResolvedImport[]>
}
