/** What is at the limits of the contract, by the names that paths have for it. */
export interface World {
  /** A public val with the largest text, comments and likes. */
  readonly valId: string
  /** A val whose branch has as many versions of the largest text as a page has items. */
  readonly versionsId: string
  /** A val with as many files as it may have. */
  readonly filesId: string
  /** A branch of it on which each file has other lines, of one letter. */
  readonly otherBranchId: string
  /** A val with as many branches as it may have. */
  readonly branchesId: string
  /** A val that is changed by doors. */
  readonly changedId: string
  readonly runId: string
  readonly commentId: string
  readonly userId: string
  readonly webhookId: string
  /** The ids of vals that answer or compute, by their names. */
  readonly vals: Readonly<Record<"takesArgs" | "largeRuns" | "large" | "inbox", string>>
}
