import { tsxLanguage } from "@codemirror/lang-javascript"
import { markdown, markdownLanguage } from "@codemirror/lang-markdown"

/** Markdown with tables and the like; blocks of code are read as TypeScript where they say so. */
export const markdownExtension = markdown({
  base: markdownLanguage,
  codeLanguages: (name) =>
    /^(ts|tsx|typescript|js|jsx|javascript|json)$/.test(name) ? tsxLanguage : null,
})
