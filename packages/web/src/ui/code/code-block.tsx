import { type CodePart, highlight, type Language } from "./highlight.ts"

interface CodeBlockProps {
  readonly code: string
  readonly language: Language
  /** The accessible name. */
  readonly label: string
  /** Wraps long lines instead of scrolling. */
  readonly isWrapped?: boolean
}

/** Highlighted code. It is rendered as text nodes only: it may come from any user. */
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
