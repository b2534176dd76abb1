import { useSignal } from "@preact/signals"
import { setTo } from "../../ui/bind.ts"
import { CodeBlock } from "../../ui/code/code-block.tsx"
import { Icon } from "../../ui/icon.tsx"
import { Bars } from "../../ui/page-states.tsx"
import { Loaded } from "../data/loaded.tsx"
import { useResource } from "../data/resource.ts"
import { Button } from "../parts/buttons/button.tsx"
import { Section } from "../parts/section.tsx"
import { ExportButtons } from "./export-buttons.tsx"
import { ResultTable } from "./result-table.tsx"
import { quoteName } from "./result-text.ts"
import { useStorage } from "./storage.ts"

const limits = { rowsAtOnce: 50 }

/** The rows of a table, page by page. */
export function TableRows(props: {
  readonly table: string
  /** Another number reads the rows again. */
  readonly revision: number
  readonly sql: string | undefined
}) {
  const { table, revision, sql } = props
  const storage = useStorage()
  const page = useSignal(0)
  const from = page.value * limits.rowsAtOnce
  const rows = useResource(
    `${table} ${page.value} ${revision}`,
    (signal) =>
      storage.executeSql(
        {
          statement: {
            sql: `select * from ${quoteName(table)} limit ? offset ?`,
            args: [limits.rowsAtOnce + 1, from],
          },
        },
        { signal },
      ),
    { keepsPrevious: true },
  )
  // The server limits the size of a result, and says so.
  const loadAll = () => storage.executeSql({ statement: `select * from ${quoteName(table)}` })
  return (
    <Section title={table} end={<ExportButtons name={table} load={loadAll} />}>
      <Loaded of={rows} skeleton={<Bars count={6} kind="row" />}>
        {(result) => {
          const shown = { ...result, rows: result.rows.slice(0, limits.rowsAtOnce) }
          const hasMore = result.rows.length > limits.rowsAtOnce
          return (
            <>
              <ResultTable result={shown} label={`Rows of ${table}`} />
              {page.value > 0 || hasMore ? (
                <p class="row wrap pager">
                  <Button
                    kind="quiet small"
                    disabled={page.value === 0}
                    onClick={setTo(page, page.value - 1)}
                  >
                    Previous
                  </Button>
                  <span class="quiet">
                    Rows {from + 1} to {from + shown.rows.length}
                  </span>
                  <Button
                    kind="quiet small"
                    disabled={!hasMore}
                    onClick={setTo(page, page.value + 1)}
                  >
                    Next
                  </Button>
                </p>
              ) : null}
            </>
          )
        }}
      </Loaded>
      {sql ? (
        <details class="fold">
          <summary>
            <Icon name="chevron" /> How it was created
          </summary>
          <CodeBlock code={sql} language="text" label={`Definition of ${table}`} />
        </details>
      ) : null}
    </Section>
  )
}
