import { useSignal } from "@preact/signals"
import { useLayoutEffect, useRef } from "preact/hooks"
import { CopyButton } from "../../ui/copy-button.tsx"
import type { Api, Operation } from "../operations/api.ts"
import { errorMeanings } from "../operations/error-meanings.ts"
import { CodeBlock } from "../snippets/code-block.tsx"
import { exchangeOf, type SendState } from "./exchange.ts"
import { type AnswerExample, toAnswerExamples } from "./response-example.ts"
import { LiveAnswer } from "./response-view.tsx"
import { Tabs } from "./tabs.tsx"

interface AnswerCardProps {
  readonly api: Api
  readonly operation: Operation
}

const panelId = "answer"
const answerTab = { id: "answer", label: "Answer" } as const
const exampleTab = { id: "example", label: "Example" } as const

/** Examples of the answers, and the real one as soon as there is one. */
export function AnswerCard({ api, operation }: AnswerCardProps) {
  const { state, isExampleShown } = exchangeOf(api.schemas, operation)
  const examples = toAnswerExamples(api.schemas, operation.answers, errorMeanings)
  const picked = useSignal(examples[0]?.label ?? "")
  const example = examples.find((one) => one.label === picked.value)
  const hasAnswer = state.value.kind !== "idle"
  const current = hasAnswer && !isExampleShown.value ? answerTab : exampleTab
  const text = current === exampleTab ? example?.text : bodyText(state.value)
  const card = useShownWhenDone(state.value)
  return (
    <section ref={card} class="card" aria-label="Answer">
      <div class="card-head">
        <Tabs
          label="Answer or example"
          tabs={hasAnswer ? [answerTab, exampleTab] : [exampleTab]}
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
          <ExampleAnswer example={example} />
        ) : (
          <LiveAnswer state={state.value} />
        )}
      </div>
    </section>
  )
}

/**
 * Below a long form the answer would come out of sight: what one has waited for is brought into
 * view.
 */
function useShownWhenDone(state: SendState) {
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
  return state.kind === "answered" && "text" in state.answer.body
    ? state.answer.body.text
    : undefined
}

function ExamplePicker({
  examples,
  picked,
  onPick,
}: {
  examples: readonly AnswerExample[]
  picked: string
  onPick: (label: string) => void
}) {
  const option = ({ label }: AnswerExample) => (
    <option key={label} value={label}>
      {label}
    </option>
  )
  return (
    <select
      class="example-pick"
      aria-label="Which answer"
      value={picked}
      onChange={(event) => onPick(event.currentTarget.value)}
    >
      {examples.filter((example) => !example.isError).map(option)}
      <optgroup label="Errors">
        {examples.filter((example) => example.isError).map(option)}
      </optgroup>
    </select>
  )
}

function ExampleAnswer({ example }: { example: AnswerExample | undefined }) {
  if (example?.text === undefined) return <p class="answer-empty">This answer has no body</p>
  return (
    <CodeBlock
      code={example.text}
      language={example.language}
      label={`Example of ${example.label}`}
      isWrapped
    />
  )
}
