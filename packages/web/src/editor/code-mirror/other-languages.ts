import { css } from "@codemirror/lang-css"
import { html } from "@codemirror/lang-html"
import { tsxLanguage } from "@codemirror/lang-javascript"
import { markdown, markdownLanguage } from "@codemirror/lang-markdown"

/** Together, because Markdown contains the parsers of the others. */
export const otherLanguages = {
  html: html(),
  css: css(),
  /** GitHub Markdown; code blocks that are marked as TypeScript are parsed as such. */
  markdown: markdown({
    base: markdownLanguage,
    codeLanguages: (name) =>
      /^(ts|tsx|typescript|js|jsx|javascript|json)$/.test(name) ? tsxLanguage : null,
  }),
}
