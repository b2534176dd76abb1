import { Icon } from "../../ui/icon.tsx"
import { useAction } from "../parts/use-action.ts"
import { type SqlResult, toCsv, toJson } from "./result-text.ts"
import { saveFile } from "./save-file.ts"

/** Saves rows as a file. */
export function ExportButtons(props: {
  /** The name of the file without its ending. */
  readonly name: string
  readonly load: () => Promise<SqlResult>
}) {
  const { isBusy, run } = useAction()
  const save = (ending: "csv" | "json") =>
    run(async () => {
      const result = await props.load()
      const [text, type] =
        ending === "csv" ? [toCsv(result), "text/csv"] : [toJson(result), "application/json"]
      saveFile(new Blob([text], { type }), `${props.name}.${ending}`)
    })
  return (
    <span class="export">
      {(["csv", "json"] as const).map((ending) => (
        <button
          key={ending}
          type="button"
          class="button button-quiet button-small"
          disabled={isBusy}
          onClick={() => void save(ending)}
        >
          <Icon name="download" /> {ending.toUpperCase()}
        </button>
      ))}
    </span>
  )
}
