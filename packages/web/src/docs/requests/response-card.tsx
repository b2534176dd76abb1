import { useSignal } from "@preact/signals"
import { useLayoutEffect, useRef } from "preact/hooks"
import { CodeBlock } from "../../ui/code/code-block.tsx"
import { CopyButton } from "../../ui/copy-button.tsx"
import { Icon } from "../../ui/icon.tsx"
import { HeaderList, StatusCode } from "../../ui/response-view.tsx"
import { Tabs } from "../../ui/tabs.tsx"
import { toBytes, toDuration } from "../../ui/units.ts"
import type { Api, Operation } from "../operations/api.ts"
import { errorMeanings } from "../operations/error-meanings.ts"
import { exchangeOf, type SendState } from "./exchange.ts"
import { type ResponseExample, toResponseExamples } from "./response-example.ts"
import type { ApiResponse } from "./send-request.ts"

const panelId = "response"
const responseTab = { id: "response", label: "Response" } as const
const exampleTab = { id: "example", label: "Example" } as const

/** Examples of the responses, and the received response once there is one. */
export function ResponseCard({ api, operation }: { api: Api; operation: Operation }) {
  const { state, isExampleShown } = exchangeOf(api.schemas, operation)
  const examples = toResponseExamples(api.schemas, operation.responses, errorMeanings)
  const picked = useSignal(examples[0]?.label ?? "")
  const example = examples.find((one) => one.label === picked.value)
  const hasResponse = state.value.kind !== "idle"
  const current = hasResponse && !isExampleShown.value ? responseTab : exampleTab
  const text = current === exampleTab ? example?.text : bodyText(state.value)
  const card = useScrollWhenReceived(state.value)
  return (
    <section ref={card} class="card" aria-label="Response">
      <div class="row card-head">
        <Tabs
          label="Response or example"
          tabs={hasResponse ? [responseTab, exampleTab] : [exampleTab]}
          current={current.id}
          panelId={panelId}
          onPick={(id) => {
            isExampleShown.value = id === exampleTab.id
          }}
        />
        {current === exampleTab ? (
          <ExamplePicker
            examples={examples}
            picked={picked.value}
            onPick={(label) => {
              picked.value = label
            }}
          />
        ) : null}
        {text === undefined ? null : (
          <CopyButton
            text={text}
            label={`Copy the ${current === exampleTab ? "example" : "body"}`}
          />
        )}
      </div>
      <div id={panelId} role="tabpanel" aria-label={current.label}>
        {current === exampleTab ? (
          <ExampleView example={example} />
        ) : (
          <ResponseView state={state.value} />
        )}
      </div>
    </section>
  )
}

/** Below a long form the response would be out of sight: it is scrolled into view. */
function useScrollWhenReceived(state: SendState) {
  const card = useRef<HTMLElement>(null)
  const before = useRef(state.kind)
  useLayoutEffect(() => {
    if (before.current === "sending" && state.kind !== "sending")
      card.current?.scrollIntoView({ block: "nearest" })
    before.current = state.kind
  }, [state])
  return card
}

function bodyText(state: SendState): string | undefined {
  return state.kind === "received" && "text" in state.response.body
    ? state.response.body.text
    : undefined
}

function ExamplePicker(props: {
  readonly examples: readonly ResponseExample[]
  readonly picked: string
  readonly onPick: (label: string) => void
}) {
  const toOptions = (isError: boolean) =>
    props.examples
      .filter((example) => example.isError === isError)
      .map(({ label }) => <option key={label}>{label}</option>)
  return (
    <select
      class="input example-pick"
      aria-label="Which response"
      value={props.picked}
      onChange={(event) => props.onPick(event.currentTarget.value)}
    >
      {toOptions(false)}
      <optgroup label="Errors">{toOptions(true)}</optgroup>
    </select>
  )
}

function ExampleView({ example }: { example: ResponseExample | undefined }) {
  if (example?.text === undefined) return <p class="response-empty">This response has no body</p>
  return (
    <CodeBlock
      code={example.text}
      language={example.language}
      label={`Example of ${example.label}`}
      isWrapped
    />
  )
}

/** The result of sending: a response, a failure, or that the request is under way. */
function ResponseView({ state }: { state: SendState }) {
  return (
    <>
      <div class="row wrap response-line" role="status">
        {state.kind === "received" ? <ResponseFacts response={state.response} /> : null}
        {state.kind === "sending" ? <span class="quiet">Waiting for the response…</span> : null}
        {state.kind === "failed" ? (
          <span class="response-failure">
            <Icon name="warning" />
            {state.message}
          </span>
        ) : null}
      </div>
      {state.kind === "received" ? <ResponseContent response={state.response} /> : null}
    </>
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
  const { body, headers, isTruncated } = response
  return (
    <>
      <HeaderList headers={headers} />
      {body.kind === "none" ? <p class="response-empty">The response has no body</p> : null}
      {body.kind === "bytes" ? (
        <p class="response-empty">The body is not text: {body.contentType || "no content type"}</p>
      ) : null}
      {body.kind === "json" || body.kind === "text" ? (
        <div class="response-body">
          <CodeBlock code={body.text} language={body.kind} label="Response body" isWrapped />
        </div>
      ) : null}
      {isTruncated ? <p class="response-empty">The rest is not shown</p> : null}
    </>
  )
}
