import type { FileConflict } from "../files/conflicts.ts"
import type { LoadedVal } from "../files/load-files.ts"

/** The state of saving. */
export type SaveState =
  | { readonly kind: "idle" }
  | { readonly kind: "saving" }
  | {
      readonly kind: "failed"
      readonly error: unknown
      /** There was no response: the save is repeated when the server is back. */
      readonly isRepeated: boolean
    }
  /** Files were saved elsewhere; nothing was overwritten. */
  | {
      readonly kind: "conflict"
      readonly theirs: LoadedVal
      readonly files: readonly FileConflict[]
    }
