import type { EditorView } from "@codemirror/view"
import type { EditorLanguage, FormatCode, FormatOutcome } from "../code-editor-props.ts"
import type { TypeService } from "../type-service/type-service.ts"
import { type Change, findChanges } from "./find-changes.ts"

interface Formatting {
  readonly language: EditorLanguage
  readonly path: string
  readonly service: TypeService | undefined
  readonly formatCode: FormatCode | undefined
}

/** Formats the text as one change. On failure nothing changes. */
export async function formatDocument(
  view: EditorView,
  { language, path, service, formatCode }: Formatting,
): Promise<FormatOutcome> {
  if (view.state.readOnly) return refuse("it is read only")
  if (language === "json") return formatJson(view)
  if (language !== "typescript") return { ok: true, isChanged: false }
  const { doc } = view.state
  const text = doc.toString()
  const result = await formatCode?.(text)
  if (result && !result.ok) return result
  if (result && view.state.doc === doc) return apply(view, findChanges(text, result.text))
  const formatted = await service?.query(path, doc, "format", {})
  if (!formatted) return refuse("the formatter is not loaded")
  if (!formatted.ok) return formatted
  if (view.state.doc !== doc) return refuse("it has changed in the meantime")
  return apply(
    view,
    formatted.edits.map(({ from, to, text }) => ({ from, to, insert: text })),
  )
}

function formatJson(view: EditorView): FormatOutcome {
  const text = view.state.doc.toString()
  try {
    return apply(view, findChanges(text, `${JSON.stringify(JSON.parse(text), null, 2)}\n`))
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error))
  }
}

function apply(view: EditorView, changes: readonly Change[]): FormatOutcome {
  if (changes.length > 0) view.dispatch({ changes, userEvent: "format", scrollIntoView: true })
  return { ok: true, isChanged: changes.length > 0 }
}

function refuse(reason: string): FormatOutcome {
  return { ok: false, message: `Cannot format the code: ${reason}` }
}
