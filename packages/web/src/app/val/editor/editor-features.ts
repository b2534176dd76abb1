import { ApiError } from "@hamlet/contract/client"
import { readStyle } from "@hamlet/contract/code-style"
import { signal } from "@preact/signals"
import type { CodeEditorProps, FormattedText } from "../../../editor/code-editor-props.ts"
import type { Definition } from "../../../editor/type-service/protocol.ts"
import { api } from "../../api.ts"
import { explain } from "../../data/explain.ts"
import { navigate } from "../../frame/location.ts"
import { showError } from "../../frame/toast-list.ts"
import type { ValEditing } from "../code/val-editing.ts"

/** A file that has no page of its own, for `DefinitionDialog`. */
export const shownDefinition = signal<Extract<Definition, { kind: "file" }> | undefined>(undefined)

/** The properties by which the editor knows packages, other vals and the formatter. */
export function editorFeatures(
  editing: ValEditing,
): Pick<CodeEditorProps, "locked" | "formatCode" | "onDefinition" | "onProblem"> {
  const { id, version } = editing.val.value
  return {
    locked: { valId: id, version },
    formatCode,
    onDefinition: openDefinition,
    onProblem: showError,
  }
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

function openDefinition(definition: Exclude<Definition, { kind: "here" }>): void {
  if (definition.kind === "file") shownDefinition.value = definition
  else if (definition.kind === "val") {
    const { user, name, file, line } = definition
    const query = new URLSearchParams({ ...(file && { file }), line: String(line) })
    navigate(`/u/${user}/${name}?${query}`)
  }
}
