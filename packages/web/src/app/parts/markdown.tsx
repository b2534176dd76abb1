import { Bars, LoadFailure } from "../../ui/page-states.tsx"
import { useLoaded } from "../../ui/use-loaded.ts"

/** Sanitized Markdown. The renderer is loaded on first use. */
export function Markdown({ text }: { text: string }) {
  const { component: Rendered, hasFailed } = useLoaded(loadRendered)
  if (Rendered) return <Rendered text={text} />
  return hasFailed ? <LoadFailure part="this text" /> : <Bars count={3} />
}

async function loadRendered() {
  const { renderMarkdown } = await import("./render-markdown.ts")
  // DOMPurify removed active content, and the CSP of the page would block the rest.
  return ({ text }: { text: string }) => (
    <div class="markdown" dangerouslySetInnerHTML={{ __html: renderMarkdown(text) as string }} />
  )
}
