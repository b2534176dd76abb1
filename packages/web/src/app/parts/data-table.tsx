import type { ComponentChildren } from "preact"

/** A table in a card. `columns` maps headings to classes; the `hidden` ones are only read out. */
export function DataTable(props: {
  readonly columns: Readonly<Record<string, string>>
  readonly isScrolling?: boolean
  readonly children: ComponentChildren
}) {
  return (
    <div class={props.isScrolling ? "card table-scroll" : "card"}>
      <table class="table">
        <thead>
          <tr>
            {Object.entries(props.columns).map(([heading, kind]) => (
              <th key={heading} class={kind}>
                {kind === "hidden" ? <span class="visually-hidden">{heading}</span> : heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{props.children}</tbody>
      </table>
    </div>
  )
}
