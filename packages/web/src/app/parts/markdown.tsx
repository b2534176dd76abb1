import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { Bars } from "../data/page-states.tsx"

type Render = (text: string) => unknown

let render: Render | undefined

/**
 * Markdown of whoever, made harmless. What renders it is loaded when there is something to render.
 */
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
  // DOMPurify has taken out whatever could act, and the policy of the page lets in nothing else.
  return <div class="markdown" dangerouslySetInnerHTML={{ __html: render(text) as string }} />
}
