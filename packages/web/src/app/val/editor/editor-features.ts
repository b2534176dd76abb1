import { ApiError } from "@hamlet/contract/client"
import { readStyle } from "@hamlet/contract/code-style"
import { signal } from "@preact/signals"
import type { CodeEditorProps, FormattedText } from "../../../editor/code-editor-props.ts"
import { toPlainLines, withLineEndsOf } from "../../../editor/line-ends.ts"
import type { Definition, TextEdit } from "../../../editor/type-service/protocol.ts"
import { api } from "../../api.ts"
import { explain } from "../../data/explain.ts"
import { navigate } from "../../frame/location.ts"
import { showError } from "../../frame/toast-list.ts"
import { toDocumentPath } from "../code/type-documents.tsx"
import type { ValEditing } from "../code/val-editing.ts"

/** A file that has no page of its own, for `DefinitionDialog`. */
export const shownDefinition = signal<Extract<Definition, { kind: "file" }> | undefined>(undefined)

/** The properties by which the editor knows packages, other files and the formatter. */
export function editorFeatures(
  editing: ValEditing,
  goTo: (path: string, line: number) => void,
): Pick<CodeEditorProps, "locked" | "formatCode" | "onDefinition" | "onEdits" | "onProblem"> {
  const { id, version } = editing.val.value
  const root = toDocumentPath(editing, "")
  return {
    locked: { valId: id, version },
    formatCode,
    onDefinition(definition) {
      if (definition.kind === "document") goTo(definition.path.slice(root.length), definition.line)
      else openDefinition(definition)
    },
    onEdits(path, edits) {
      const file = editing.files.find(path.slice(root.length))
      const text = file?.text.peek()
      if (!file || text === undefined) return
      const edited = applyEdits(toPlainLines(text), edits)
      editing.files.type(withLineEndsOf(text, edited), file)
    },
    onProblem: showError,
  }
}

/** The edits are about the same text, and do not overlap. */
function applyEdits(text: string, edits: readonly TextEdit[]): string {
  return edits
    .toSorted((one, other) => other.from - one.from)
    .reduce(
      (changed, edit) => changed.slice(0, edit.from) + edit.text + changed.slice(edit.to),
      text,
    )
}

/** Formats on the server. When it does not respond, the editor formats as well as it can. */
async function formatCode(code: string): Promise<FormattedText | undefined> {
  try {
    return { ok: true, text: (await api.formatCode({ code, ...readStyle(code) })).code }
  } catch (error) {
    const isAboutCode = error instanceof ApiError && error.status < 500 && error.status !== 429
    return isAboutCode ? { ok: false, message: explain(error) } : undefined
  }
}

function openDefinition(definition: Exclude<Definition, { kind: "here" | "document" }>): void {
  if (definition.kind === "file") shownDefinition.value = definition
  else if (definition.kind === "val") {
    const { user, name, file, line } = definition
    const query = new URLSearchParams({ ...(file && { file }), line: String(line) })
    navigate(`/u/${user}/${name}?${query}`)
  }
}
