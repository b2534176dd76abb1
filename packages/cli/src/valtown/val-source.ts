import type { SourceBranch } from "../archive/write-branch.ts"
import type { Privacy } from "../vals.ts"

/** A val with its files, from another service. */
export interface SourceVal {
  /** How messages name it. */
  readonly source: string
  readonly name: string
  readonly privacy: Privacy
  readonly description: string | null
  /** `main` first. */
  readonly branches: readonly SourceBranch[]
  /** Names of environment variables, whose values cannot be read; undefined if unknown. */
  readonly variables: readonly string[] | undefined
  /** What could not be read. */
  readonly problems: readonly string[]
}
