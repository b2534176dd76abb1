import { type CodePart, highlight, type Language } from "./highlight.ts"

interface CodeBlockProps {
  readonly code: string
  readonly language: Language
  /** What it is, for those who do not see it. */
  readonly label: string
  /** Breaks long lines instead of scrolling sideways. */
  readonly isWrapped?: boolean
}

/** Code in colours. Everything goes in as text nodes: an answer may hold anybody's code. */
export function CodeBlock({ code, language, label, isWrapped = false }: CodeBlockProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so it must be reachable by keyboard
    <section class={isWrapped ? "code code-wrapped" : "code"} tabIndex={0} aria-label={label}>
      <pre>
        <code>{highlight(code, language).map(toColoured)}</code>
      </pre>
    </section>
  )
}

function toColoured({ kind, text }: CodePart) {
  return kind === "plain" ? text : <span class={`code-${kind}`}>{text}</span>
}
