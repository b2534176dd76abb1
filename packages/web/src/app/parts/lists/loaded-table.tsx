import { LoadedPages, type LoadedPagesProps } from "../../data/loaded.tsx"
import { DataTable, type TableProps } from "./data-table.tsx"

/** A table that is fetched page by page. */
export function LoadedTable<Row>(props: TableProps<Row> & Omit<LoadedPagesProps<Row>, "children">) {
  const { columns, toKey, isScrolling = false, ...pages } = props
  return (
    <LoadedPages {...pages}>
      {(rows) => (
        <DataTable
          columns={columns}
          isScrolling={isScrolling}
          rows={rows}
          {...(toKey ? { toKey } : {})}
        />
      )}
    </LoadedPages>
  )
}
