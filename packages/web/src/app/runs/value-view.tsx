import { useSignal } from "@preact/signals"
import { setTo } from "../../ui/bind.ts"
import { CopyButton } from "../../ui/copy-button.tsx"
import { Segments } from "../parts/forms/segments.tsx"
import { asPicture, asTable, type TableValue } from "./as-table.ts"

const viewNames = { tree: "Tree", table: "Table", picture: "Picture" } as const
const limits = { itemsShown: 200, openDepth: 2, cellCharsMax: 200 }

/** A value that a val returned: as a tree, a table or a picture. */
export function ValueView({ value }: { value: unknown }) {
  const table = asTable(value)
  const picture = asPicture(value)
  const view = useSignal<"tree" | "table" | "picture" | undefined>(undefined)
  const current = view.value ?? (picture ? "picture" : "tree")
  const views = [
    "tree" as const,
    ...(table ? ["table" as const] : []),
    ...(picture ? ["picture" as const] : []),
  ]
  return (
    <div class="boxed value-box">
      <div class="row value-bar">
        {views.length > 1 ? (
          <Segments
            label="Show as"
            choices={views.map((value) => ({ value, label: viewNames[value] }))}
            value={current}
            onChange={(value) => setTo(view, value)()}
          />
        ) : null}
        <CopyButton
          text={() => (typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? ""))}
          label="Copy the value"
        />
      </div>
      {current === "picture" && picture ? (
        <img class="picture" src={picture} alt="The returned value" />
      ) : null}
      {current === "table" && table ? <Table table={table} /> : null}
      {current === "tree" ? (
        <div class="tree">
          <Node value={value} depth={0} />
        </div>
      ) : null}
    </div>
  )
}

function Node({ value, name, depth }: { value: unknown; name?: string; depth: number }) {
  const label = name === undefined ? null : <span class="code-key">{name}: </span>
  if (typeof value !== "object" || value === null)
    return (
      <div class="tree-leaf">
        {label}
        <Leaf value={value} />
      </div>
    )
  const entries = Object.entries(value)
  const isList = Array.isArray(value)
  const summary = isList ? `[${entries.length}]` : `{${entries.length}}`
  if (entries.length === 0)
    return (
      <div class="tree-leaf">
        {label}
        {isList ? "[]" : "{}"}
      </div>
    )
  return (
    <details class="tree-node" open={depth < limits.openDepth}>
      <summary>
        {label}
        <span class="tree-summary">{summary}</span>
      </summary>
      {entries.slice(0, limits.itemsShown).map(([key, item]) => (
        <Node key={key} name={key} value={item} depth={depth + 1} />
      ))}
      {entries.length > limits.itemsShown ? (
        <div class="quiet">and {entries.length - limits.itemsShown} more</div>
      ) : null}
    </details>
  )
}

function Leaf({ value }: { value: unknown }) {
  if (typeof value === "string") return <span class="code-string">{JSON.stringify(value)}</span>
  if (value === undefined) return <span class="code-word">undefined</span>
  return (
    <span class={typeof value === "number" ? "code-number" : "code-word"}>{String(value)}</span>
  )
}

function Table({ table }: { table: TableValue }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area needs keyboard access
    <section class="table-scroll" tabIndex={0} aria-label="Returned table">
      <table class="table table-dense">
        <thead>
          <tr>
            {table.columns.map((column) => (
              <th key={column}>{column}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, column) => (
                <td key={column}>{toCell(cell)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function toCell(value: unknown): string {
  if (value === undefined || value === null) return ""
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "")
  return text.length > limits.cellCharsMax ? `${text.slice(0, limits.cellCharsMax)}…` : text
}
