import { type Field, type Row, toField, toRecords } from "../records.ts"

/** What the server responds to a statement, with `values()`. */
export type PostgresResult = readonly Row[] & {
  readonly command: string
  readonly columns: readonly { readonly name: string; readonly type: number }[]
}

/** `bigint` and `numeric`, which is the type of their sums. */
const numberTypes: ReadonlySet<number> = new Set([20, 1700])

/** By the columns of a prepared statement, of which all its results have the same list. */
const fieldsOf = new WeakMap<PostgresResult["columns"], readonly Field[]>()

/** The rows of a result as records. */
export function toPostgresRecords<Item>(result: PostgresResult): readonly Item[] {
  const { columns } = result
  if (result.length === 0) return []
  const fields =
    fieldsOf.get(columns) ??
    columns.map(({ name, type }) => ({ ...toField(name), isNumberText: numberTypes.has(type) }))
  fieldsOf.set(columns, fields)
  return toRecords(result, fields)
}
