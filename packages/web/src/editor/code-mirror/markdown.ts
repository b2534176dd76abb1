import { tsxLanguage } from "@codemirror/lang-javascript"
import { markdown, markdownLanguage } from "@codemirror/lang-markdown"

/** GitHub Markdown; code blocks that are marked as TypeScript are parsed as such. */
export const markdownExtension = markdown({
  base: markdownLanguage,
  codeLanguages: (name) =>
    /^(ts|tsx|typescript|js|jsx|javascript|json)$/.test(name) ? tsxLanguage : null,
})
