import type { ComponentChildren } from "preact"
import { LoadedPages, type LoadedPagesProps } from "../../data/loaded.tsx"

/** A list in a card, fetched page by page: in each row a title, a quiet line and a button. */
export function RowList<Row extends { readonly id: string }>(
  props: Omit<LoadedPagesProps<Row>, "children"> & {
    readonly title: (row: Row) => ComponentChildren
    readonly line: (row: Row) => ComponentChildren
    readonly button: (row: Row) => ComponentChildren
  },
) {
  const { title, line, button, ...pages } = props
  return (
    <LoadedPages {...pages}>
      {(rows) => (
        <ul class="card">
          {rows.map((row) => (
            <li key={row.id} class="row ruled session-row">
              <div>
                <p>{title(row)}</p>
                <p class="quiet">{line(row)}</p>
              </div>
              {button(row)}
            </li>
          ))}
        </ul>
      )}
    </LoadedPages>
  )
}
