import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { Bars } from "../../ui/page-states.tsx"

type Render = (text: string) => unknown

let render: Render | undefined

/** Sanitized Markdown. The renderer is loaded on first use. */
export function Markdown({ text }: { text: string }) {
  const isReady = useSignal(render !== undefined)
  useEffect(() => {
    if (render) return
    void import("./render-markdown.ts").then((module) => {
      render = module.renderMarkdown
      isReady.value = true
    })
  }, [])
  if (!isReady.value || !render) return <Bars count={3} />
  // DOMPurify removed active content, and the CSP of the page would block the rest.
  return <div class="markdown" dangerouslySetInnerHTML={{ __html: render(text) as string }} />
}
