/**
 * Whose processes no longer have a reason to be: those of an owner whose secrets have changed, of a
 * val or a version that was deleted.
 */
export type Outdated =
  | { readonly ownerId: string }
  | { readonly valId: string; readonly version?: number }

/** Whether that is what a program is made of. */
export function isOutdated(
  program: { ownerId: string; valId: string; version: number },
  outdated: Outdated,
): boolean {
  if ("ownerId" in outdated) return program.ownerId === outdated.ownerId
  return (
    program.valId === outdated.valId &&
    (outdated.version === undefined || outdated.version === program.version)
  )
}

/** Whoever has started something with code or secrets that may change. */
export interface Retirer {
  /**
   * Something that programs are made of is no more: what was started with it takes no more runs.
   */
  retire(outdated: Outdated): void
}
