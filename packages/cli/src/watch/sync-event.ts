/** Something that a synchronisation did, or would do. */
export interface SyncEvent {
  readonly action:
    | "created"
    | "saved"
    | "wrote"
    | "merged"
    | "renamed"
    | "moved"
    | "left"
    | "deleted"
    | "trashed"
    | "conflict"
    | "problem"
  readonly file: string
  readonly val?:
    | { readonly id?: string; readonly name: string; readonly version?: number }
    | undefined
  /** The conflict file, the file in the trash, or the previous path. */
  readonly other?: string | undefined
  /** A dry run: nothing was done. */
  readonly isPlanned?: true
  /** A message for the user. */
  readonly text?: string | undefined
}

/** The word for each kind of step; those without one change only the record of the folder. */
export const stepActions = {
  note: undefined,
  forget: undefined,
  write: "wrote",
  carry: "moved",
  trash: "trashed",
  conflict: "conflict",
  rescue: "conflict",
  create: "created",
  save: "saved",
  move: "moved",
  delete: "deleted",
} as const satisfies Readonly<Record<string, SyncEvent["action"] | undefined>>
