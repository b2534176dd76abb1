import type { FileType } from "../checkout/checkout-state.ts"
import type { Privacy } from "../vals.ts"

/** A file that is imported. */
export interface SourceFile {
  readonly path: string
  readonly type: Exclude<FileType, "directory">
  readonly content: string
}

/** A val with its files, from another service. */
export interface SourceVal {
  /** How messages name it. */
  readonly source: string
  readonly name: string
  readonly privacy: Privacy
  readonly description: string | null
  /** `main` first. */
  readonly branches: readonly { readonly name: string; readonly files: readonly SourceFile[] }[]
  /** Names of environment variables, whose values cannot be read; undefined if unknown. */
  readonly variables: readonly string[] | undefined
  /** What could not be read. */
  readonly problems: readonly string[]
}
