import { useSignal } from "@preact/signals"
import { bindText } from "../../ui/bind.ts"
import { Icon } from "../../ui/icon.tsx"
import { toDuration } from "../../ui/units.ts"
import { explain } from "../data/explain.ts"
import { ExportButtons } from "./export-buttons.tsx"
import { findWholeTable } from "./find-whole-table.ts"
import { ResultTable } from "./result-table.tsx"
import type { SqlResult } from "./result-text.ts"
import { useStorage } from "./storage.ts"

type Answer =
  | { readonly kind: "result"; readonly result: SqlResult; readonly ms: number }
  | { readonly kind: "failed"; readonly message: string }

/** A box for one statement, with its result or its error. */
export function QueryBox({ onDone }: { onDone: () => void }) {
  const storage = useStorage()
  const sql = useSignal("")
  const isBusy = useSignal(false)
  const answer = useSignal<Answer | undefined>(undefined)
  const run = async () => {
    if (sql.value.trim() === "" || isBusy.value) return
    const table = findWholeTable(sql.value)
    if (
      table !== undefined &&
      !confirm(`There is no "where": this changes every row of ${table}. Go on?`)
    )
      return
    isBusy.value = true
    const startedAt = performance.now()
    try {
      const result = await storage.executeSql({ statement: sql.value })
      answer.value = { kind: "result", result, ms: performance.now() - startedAt }
      if (result.columns.length === 0 || result.rowsAffected > 0) onDone()
    } catch (error) {
      answer.value = { kind: "failed", message: explain(error) }
    } finally {
      isBusy.value = false
    }
  }
  return (
    <form
      class="query"
      onSubmit={(event) => {
        event.preventDefault()
        void run()
      }}
    >
      <textarea
        class="input input-mono query-text"
        aria-label="SQL statement"
        placeholder="select * from …"
        rows={3}
        spellcheck={false}
        autocomplete="off"
        {...bindText(sql)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return
          event.preventDefault()
          void run()
        }}
      />
      <div class="row wrap query-bar">
        <button type="submit" class="button" disabled={isBusy.value}>
          <Icon name="play" /> Run
        </button>
        <kbd>Ctrl Enter</kbd>
        {answer.value?.kind === "result" ? <Summary {...answer.value} /> : null}
      </div>
      <p class="field-error" role="alert">
        {answer.value?.kind === "failed" ? answer.value.message : null}
      </p>
      {answer.value?.kind === "result" && answer.value.result.columns.length > 0 ? (
        <ResultTable result={answer.value.result} label="Result" />
      ) : null}
    </form>
  )
}

function Summary({ result, ms }: { readonly result: SqlResult; readonly ms: number }) {
  const { columns, rows, rowsAffected } = result
  const count = columns.length > 0 ? rows.length : rowsAffected
  const what = `${count} ${count === 1 ? "row" : "rows"}${columns.length > 0 ? "" : " changed"}`
  return (
    <>
      <span class="quiet" role="status">
        {what} in {toDuration(ms)}
      </span>
      {columns.length > 0 ? (
        <ExportButtons name="result" load={() => Promise.resolve(result)} />
      ) : null}
    </>
  )
}
