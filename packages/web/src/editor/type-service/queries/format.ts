import ts from "typescript-js"
import type { Project } from "../project.ts"
import type { Formatted } from "../protocol.ts"

/** How TypeScript writes code. */
export const formatSettings: ts.FormatCodeSettings = {
  ...ts.getDefaultFormatCodeSettings("\n"),
  indentSize: 2,
  tabSize: 2,
  convertTabsToSpaces: true,
  trimTrailingWhitespace: true,
  // Semicolons and quotes stay unchanged.
  semicolons: ts.SemicolonPreference.Ignore,
}

/** The edits that format a document. Code with syntax errors is left unchanged. */
export function format(project: Project, path: string): Formatted {
  const fileName = project.toFileName(path)
  const [error] = project.findService(path).getSyntacticDiagnostics(fileName)
  if (error) {
    const { line } = ts.getLineAndCharacterOfPosition(error.file, error.start)
    const reason = ts.flattenDiagnosticMessageText(error.messageText, " ").replace(/\.$/, "")
    return { ok: false, message: `Cannot format the code: ${reason} (line ${line + 1})` }
  }
  const edits = project.findService(path).getFormattingEditsForDocument(fileName, formatSettings)
  return {
    ok: true,
    edits: edits.map(({ span, newText }) => ({
      from: span.start,
      to: span.start + span.length,
      text: newText,
    })),
  }
}
