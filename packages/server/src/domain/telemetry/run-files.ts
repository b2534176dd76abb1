/** The file that a run has started. */
export interface StartedFile {
  readonly fileId: string
  readonly branchId: string
}

/**
 * The file that a run has started. Runs start the entry file of `main`, and both have the id of the
 * val.
 */
export function toStartedFile({ valId }: { readonly valId: string }): StartedFile {
  return { fileId: valId, branchId: valId }
}

/** The vals whose runs can be of these branches and of this file; undefined if all can. */
export function toFilteredVals(filter: {
  readonly branchIds?: readonly string[] | undefined
  readonly fileId?: string | undefined
}): readonly string[] | undefined {
  const { branchIds, fileId } = filter
  if (fileId === undefined) return branchIds
  return branchIds === undefined || branchIds.includes(fileId) ? [fileId] : []
}
