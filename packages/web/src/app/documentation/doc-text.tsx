import { useEffect } from "preact/hooks"
import { Bars, LoadFailure } from "../../ui/page-states.tsx"
import { useLoaded } from "../../ui/use-loaded.ts"

interface DocTextProps {
  readonly text: string
  /** The name of a heading to begin with; empty for the top. */
  readonly heading: string
}

/** A page of the documentation. The renderer is loaded on first use. */
export function DocText(props: DocTextProps) {
  const { component: Rendered, hasFailed } = useLoaded(loadRendered)
  if (Rendered) return <Rendered {...props} />
  return hasFailed ? <LoadFailure part="this page" /> : <Bars count={8} />
}

async function loadRendered() {
  const { renderDoc } = await import("../parts/render-markdown.ts")
  return ({ text, heading }: DocTextProps) => {
    useEffect(() => {
      if (heading !== "") document.getElementById(heading)?.scrollIntoView()
    }, [text, heading])
    return <div class="markdown" dangerouslySetInnerHTML={{ __html: renderDoc(text) as string }} />
  }
}
