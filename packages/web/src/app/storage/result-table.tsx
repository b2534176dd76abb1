import type { SqlResult } from "./result-text.ts"

const limits = { cellCharsMax: 300, rowsMax: 500 }

/** The rows of a result. */
export function ResultTable({ result, label }: { result: SqlResult; label: string }) {
  const { columns, columnTypes, rows } = result
  if (rows.length === 0) return <p class="quiet">No rows</p>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so it must be reachable by keyboard
    <section class="card table-scroll result" tabIndex={0} aria-label={label}>
      <table class="table table-dense">
        <thead>
          <tr>
            {columns.map((name, index) => (
              <th key={index} class={isNumeric(columnTypes[index]) ? "table-number" : ""}>
                {name} <span class="result-type">{columnTypes[index]?.toLowerCase()}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, limits.rowsMax).map((row, index) => (
            <tr key={index}>
              {row.map((value, column) => (
                <Cell key={column} value={value} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > limits.rowsMax ? (
        <p class="quiet">
          The first {limits.rowsMax} of {rows.length} rows; export them to see all.
        </p>
      ) : null}
    </section>
  )
}

function isNumeric(type: string | undefined): boolean {
  return /int|real|num|floa|doub/i.test(type ?? "")
}

function Cell({ value }: { value: string | number | null }) {
  if (value === null) return <td class="result-null">null</td>
  if (typeof value === "number") return <td class="table-number">{value}</td>
  return (
    <td class="ellipsis result-text">
      {value.length > limits.cellCharsMax ? `${value.slice(0, limits.cellCharsMax)}…` : value}
    </td>
  )
}
