import { CodeBlock } from "../../ui/code/code-block.tsx"
import { HeaderList, StatusCode } from "../../ui/response-view.tsx"
import { toBytes, toDuration } from "../../ui/units.ts"
import type { ApiResponse } from "./send-request.ts"

/** The state of the request of an operation. */
export type SendState =
  | { readonly kind: "idle" }
  | { readonly kind: "sending"; readonly stop: () => void }
  | { readonly kind: "received"; readonly response: ApiResponse }
  | { readonly kind: "failed"; readonly message: string }

/** The result of sending: a response, a failure, or that the request is under way. */
export function ResponseView({ state }: { state: SendState }) {
  if (state.kind === "idle") return null
  return (
    <section class="card-pad reference-response" aria-label="Response">
      <div class="row wrap" role="status">
        {state.kind === "received" ? <ResponseFacts response={state.response} /> : null}
        {state.kind === "sending" ? <span class="quiet">Waiting for the response…</span> : null}
        {state.kind === "failed" ? <span class="field-error">{state.message}</span> : null}
      </div>
      {state.kind === "received" ? <ResponseContent response={state.response} /> : null}
    </section>
  )
}

function ResponseFacts({ response }: { response: ApiResponse }) {
  const { status, statusText, durationMs, bodyBytes, isTruncated } = response
  return (
    <>
      <StatusCode status={status} statusText={statusText} />
      <span class="quiet">
        {toDuration(durationMs)} · {isTruncated ? "more than " : ""}
        {toBytes(bodyBytes)}
      </span>
    </>
  )
}

function ResponseContent({ response }: { response: ApiResponse }) {
  const { body, bodyBytes, headers, isTruncated } = response
  return (
    <>
      <HeaderList headers={headers} />
      {bodyBytes === 0 ? <p class="quiet">The response has no body.</p> : null}
      {body === undefined ? <p class="quiet">The body is not text.</p> : null}
      {body && bodyBytes > 0 ? (
        <CodeBlock code={body.text} language={body.kind} label="Response body" isWrapped />
      ) : null}
      {isTruncated ? <p class="quiet">The rest is not shown.</p> : null}
    </>
  )
}
