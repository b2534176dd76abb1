/**
 * One setting. docs/configuration.md is generated from this table. The flag is the name without
 * `HAMLET_`, in kebab-case.
 */
export interface Option {
  readonly env: string
  readonly default: string
  readonly meaning: string
}
