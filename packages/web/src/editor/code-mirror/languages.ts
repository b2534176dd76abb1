import { javascript, javascriptLanguage } from "@codemirror/lang-javascript"
import type { Extension } from "@codemirror/state"
import type { EditorLanguage } from "../code-editor-props.ts"

/**
 * How a language is read. Markdown has parsers of four more languages in it, so it comes as a file
 * of its own.
 */
export function loadLanguage(language: EditorLanguage): Extension | Promise<Extension> {
  if (language === "typescript") return javascript({ jsx: true, typescript: true })
  if (language === "json") return jsonLanguage
  return language === "text"
    ? []
    : import("./markdown.ts").then(
        ({ markdownExtension }) => markdownExtension,
        () => [],
      )
}

/** The language of a file by the ending of its name. */
export function toLanguage(path: string): EditorLanguage {
  if (/\.tsx?$|\/[^./]+$/.test(path)) return "typescript"
  if (path.endsWith(".json")) return "json"
  return path.endsWith(".md") ? "markdown" : "text"
}

/** JSON is an expression. */
const jsonLanguage = javascriptLanguage.configure({ top: "SingleExpression" }, "json")
