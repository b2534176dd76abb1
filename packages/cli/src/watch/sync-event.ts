/** Something that a synchronisation has done, or would do. */
export interface SyncEvent {
  readonly action:
    | "created"
    | "saved"
    | "wrote"
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
  /** Where the other side of a conflict is, or what was put aside, or where a file was before. */
  readonly other?: string | undefined
  /** Nothing was done: this would be. */
  readonly isPlanned?: true
  /** A sentence, where somebody should know. */
  readonly text?: string | undefined
}
