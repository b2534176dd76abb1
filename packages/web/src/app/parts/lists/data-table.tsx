import type { ComponentChildren } from "preact"

/** The heading of a column, the classes of its cells, and what is in them. */
export type Column<Row> = readonly [
  heading: string,
  kind: string,
  cell: (row: Row) => ComponentChildren,
]

/** The columns of a table. */
export interface TableProps<Row> {
  readonly columns: readonly Column<Row>[]
  /** By default the id of a row. */
  readonly toKey?: (row: Row) => string
  readonly isScrolling?: boolean
}

/** A table in a card. The heading "Actions" is only read out. */
export function DataTable<Row>(props: TableProps<Row> & { readonly rows: readonly Row[] }) {
  const { columns, rows, toKey = toId, isScrolling = false } = props
  return (
    <div class={isScrolling ? "card table-scroll" : "card"}>
      <table class="table">
        <thead>
          <tr>
            {columns.map(([heading, kind]) => (
              <th key={heading} class={toHeadingKind(kind)}>
                {heading === "Actions" ? <span class="visually-hidden">{heading}</span> : heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={toKey(row)}>
              {columns.map(([heading, kind, cell]) => (
                <td key={heading} class={kind}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** A heading is where its cells are; their other classes are about their content. */
function toHeadingKind(kind: string): string {
  return kind
    .split(" ")
    .filter((name) => name === "only-wide" || name === "table-number")
    .join(" ")
}

function toId(row: unknown): string {
  return String((row as { readonly id?: unknown }).id)
}
