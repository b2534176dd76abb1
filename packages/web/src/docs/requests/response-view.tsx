import { Icon } from "../../ui/icon.tsx"
import { CodeBlock } from "../snippets/code-block.tsx"
import type { SendState } from "./exchange.ts"
import type { Answer } from "./send-request.ts"

/** What came of sending: an answer, a failure, or the wait for one. */
export function LiveAnswer({ state }: { state: SendState }) {
  return (
    <>
      <div class="answer-line" role="status">
        {state.kind === "answered" ? <AnswerFacts answer={state.answer} /> : null}
        {state.kind === "sending" ? <span class="answer-hint">Waiting for the answer…</span> : null}
        {state.kind === "failed" ? (
          <span class="answer-failure">
            <Icon name="warning" />
            {state.message}
          </span>
        ) : null}
      </div>
      {state.kind === "answered" ? <AnswerContent answer={state.answer} /> : null}
    </>
  )
}

function AnswerFacts({ answer }: { answer: Answer }) {
  const { status, statusText, durationMs, bodyBytes, isTruncated } = answer
  return (
    <>
      <span class={status >= 400 ? "status status-error" : "status status-ok"}>
        {`${status} ${statusText}`.trim()}
      </span>
      <span class="answer-hint">
        {Math.round(durationMs)} ms · {isTruncated ? "more than " : ""}
        {toSize(bodyBytes)}
      </span>
    </>
  )
}

function AnswerContent({ answer }: { answer: Answer }) {
  const { body, headers } = answer
  return (
    <>
      <details class="answer-headers">
        <summary>
          <Icon name="chevron" />
          {headers.length} {headers.length === 1 ? "header" : "headers"}
        </summary>
        <dl>
          {headers.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      </details>
      {body.kind === "none" ? <p class="answer-empty">The answer has no body</p> : null}
      {body.kind === "bytes" ? (
        <p class="answer-empty">The body is no text: {body.contentType || "no content type"}</p>
      ) : null}
      {body.kind === "json" || body.kind === "text" ? (
        <div class="answer-body">
          <CodeBlock code={body.text} language={body.kind} label="Body of the answer" isWrapped />
        </div>
      ) : null}
      {answer.isTruncated ? <p class="answer-empty">The rest is not shown</p> : null}
    </>
  )
}

function toSize(bytes: number): string {
  return bytes < 1_000 ? `${bytes} B` : `${(bytes / 1_000).toFixed(1)} kB`
}
