export type Value = string | number | null | Uint8Array

/** The rows of one table. */
export interface SeededTable {
  readonly name: string
  readonly columns: readonly string[]
  readonly count: number
  row(index: number): readonly Value[]
}
