import type { Output } from "@hamlet/contract/client"
import { useEffect, useMemo } from "preact/hooks"
import { prettify } from "./prettify.ts"

type Answer = Output<"sendValRequest">

/** What a val answered: status, headers, and the body as text or as a picture. */
export function ValResponseView({ answer, took }: { answer: Answer; took: string }) {
  const contentType =
    answer.headers.find(([name]) => name.toLowerCase() === "content-type")?.[1] ?? ""
  return (
    <>
      <p class="run-line">
        <span class={`badge status ${answer.status < 400 ? "status-succeeded" : "status-failed"}`}>
          {answer.status} {answer.statusText}
        </span>
        <span class="quiet">{took}</span>
        {answer.runId ? (
          <a class="run-link" href={`/runs/${answer.runId}`}>
            Open the run
          </a>
        ) : null}
      </p>
      <details class="request-more">
        <summary>{answer.headers.length} headers</summary>
        <dl class="header-list">
          {answer.headers.map(([name, value], index) => (
            <div key={index}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      </details>
      <Body answer={answer} contentType={contentType} />
      {answer.isTruncated ? <p class="quiet">The rest is not shown.</p> : null}
    </>
  )
}

function Body({ answer, contentType }: { answer: Answer; contentType: string }) {
  if (answer.body === "") return <p class="quiet">No body</p>
  if (!answer.isBase64) return <pre class="value">{prettify(answer.body, contentType)}</pre>
  // A drawing can hold scripts; one that is only shown as a picture cannot run them.
  if (/^image\/(png|jpeg|gif|webp|avif)\b/.test(contentType))
    return <Picture base64={answer.body} type={contentType} />
  return (
    <p class="quiet">
      {Math.floor((answer.body.length * 3) / 4).toLocaleString("en")} bytes that are no text
    </p>
  )
}

/** Through an address of the browser's own: the text of a picture can be too long for one. */
function Picture({ base64, type }: { base64: string; type: string }) {
  const url = useMemo(
    () =>
      URL.createObjectURL(
        new Blob([Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))], { type }),
      ),
    [base64, type],
  )
  useEffect(() => () => URL.revokeObjectURL(url), [url])
  return <img class="picture" src={url} alt="What the val answered" />
}
