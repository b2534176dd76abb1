import { Button } from "../parts/buttons/button.tsx"
import { type SqlResult, toCsv, toJson } from "./result-text.ts"
import { saveFile } from "./save-file.ts"

/** Saves rows as a file. */
export function ExportButtons(props: {
  /** The name of the file without its ending. */
  readonly name: string
  readonly load: () => Promise<SqlResult>
}) {
  const save = async (ending: "csv" | "json") => {
    const result = await props.load()
    const [text, type] =
      ending === "csv" ? [toCsv(result), "text/csv"] : [toJson(result), "application/json"]
    saveFile(new Blob([text], { type }), `${props.name}.${ending}`)
  }
  return (
    <span class="row wrap export">
      {(["csv", "json"] as const).map((ending) => (
        <Button kind="quiet small" icon="download" key={ending} action={() => save(ending)}>
          {ending.toUpperCase()}
        </Button>
      ))}
    </span>
  )
}
