import { limits } from "@hamlet/contract"

export const worldLimits = {
  /** As many as a page has. */
  vals: limits.pageItemsMax,
  versions: limits.pageItemsMax,
  comments: limits.pageItemsMax,
  runs: 40,
  blobs: 1_000,
  files: limits.filesPerVersionMax - 10,
  branches: limits.branchesPerValMax,
  tokens: limits.pageItemsMax,
  /** Vals that import one. */
  references: limits.pageItemsMax,
  blobBytes: 16_000_000,
}

/** Six bytes of JSON for each character. */
export function toControl(chars: number): string {
  return "\u0001".repeat(chars)
}
