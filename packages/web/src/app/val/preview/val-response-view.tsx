import type { Output } from "@hamlet/contract/client"
import { useEffect, useMemo } from "preact/hooks"
import { CodeBlock } from "../../../ui/code/code-block.tsx"
import { formatBody } from "../../../ui/code/print-json.ts"
import { HeaderList } from "../../../ui/response-view.tsx"

type ValResponse = Output<"sendValRequest">

/** The response of a val: its headers, and its body as text or as an image. */
export function ValResponseView({ response }: { response: ValResponse }) {
  return (
    <>
      <HeaderList headers={response.headers} />
      <Body response={response} />
      {response.isTruncated ? <p class="quiet">The rest is not shown.</p> : null}
    </>
  )
}

function Body({ response: { body, isBase64, headers } }: { response: ValResponse }) {
  const type = headers.find(([name]) => name.toLowerCase() === "content-type")?.[1] ?? ""
  if (body === "") return <p class="quiet">No body</p>
  if (!isBase64) {
    const { text, kind } = formatBody(body, type)
    return <CodeBlock code={text} language={kind} label="Response body" isWrapped />
  }
  // SVG is left out: it may contain scripts.
  if (/^image\/(png|jpeg|gif|webp|avif)\b/.test(type)) return <Picture base64={body} type={type} />
  return <p class="quiet">{Math.floor((body.length * 3) / 4).toLocaleString("en")} binary bytes</p>
}

/** Shown through an object URL: an image may be too long for a data URL. */
function Picture({ base64, type }: { base64: string; type: string }) {
  const url = useMemo(() => {
    const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
    return URL.createObjectURL(new Blob([bytes], { type }))
  }, [base64, type])
  useEffect(() => () => URL.revokeObjectURL(url), [url])
  return <img class="picture" src={url} alt="The response of the val" />
}
