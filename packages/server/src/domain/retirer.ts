/** Whose processes no longer have a reason to be: those of an owner whose secrets have changed, of a val or a version that was deleted. */
export type Outdated = { readonly ownerId: string } | { readonly valId: string; readonly version?: number }

/** Whoever has started something with code or secrets that may change. */
export interface Retirer {
  /** Something that programs are made of is no more: what was started with it takes no more runs. */
  retire(outdated: Outdated): void
}
