import { limits } from "@hamlet/contract"

/** How much there is of everything. */
export interface WorldSizes {
  /** Vals with the largest text. */
  readonly vals: number
  readonly versions: number
  readonly comments: number
  readonly runs: number
  readonly blobs: number
  readonly branches: number
  readonly tokens: number
  /** Vals that import one. */
  readonly references: number
}

export const worldSizes = {
  /** Sizes of the full world: as many as a page has, or as the contract allows. */
  full: {
    vals: limits.pageItemsMax,
    versions: limits.pageItemsMax,
    runs: 40,
    blobs: 1_000,
    comments: limits.pageItemsMax,
    branches: limits.branchesPerValMax,
    tokens: limits.pageItemsMax,
    references: limits.pageItemsMax,
  },
  /** What the part in `npm test` needs. */
  brief: {
    vals: limits.pageItemsMax,
    versions: 20,
    runs: 5,
    blobs: 5,
    comments: 5,
    branches: 2,
    tokens: 2,
    references: 1,
  },
} as const satisfies Readonly<Record<string, WorldSizes>>

export const worldLimits = {
  files: limits.filesPerVersionMax - 10,
  blobBytes: 16_000_000,
}

/** Six bytes of JSON for each character. */
export function toControl(chars: number): string {
  return "\u0001".repeat(chars)
}
