import { javascript, javascriptLanguage } from "@codemirror/lang-javascript"
import type { Extension } from "@codemirror/state"
import type { EditorLanguage } from "../code-editor-props.ts"

/** The parser of a language. Those that vals rarely have are loaded on demand. */
export function loadLanguage(language: EditorLanguage): Extension | Promise<Extension> {
  if (language === "typescript") return javascript({ jsx: true, typescript: true })
  if (language === "json") return jsonLanguage
  return language === "text"
    ? []
    : import("./other-languages.ts").then(
        ({ otherLanguages }) => otherLanguages[language],
        () => [],
      )
}

/** JSON is parsed as a JavaScript expression. */
const jsonLanguage = javascriptLanguage.configure({ top: "SingleExpression" }, "json")
