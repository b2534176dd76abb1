import { signal } from "@preact/signals"
import { setTo } from "../../ui/bind.ts"
import { CodeBlock } from "../../ui/code/code-block.tsx"
import { CopyButton } from "../../ui/copy-button.tsx"
import { Icon } from "../../ui/icon.tsx"
import { Tabs } from "../../ui/tabs.tsx"
import type { Api, Operation, Parameter } from "../operations/api.ts"
import { SchemaInput } from "../schemas/schema-input.tsx"
import { BodyEditor } from "./body-editor.tsx"
import { exchangeOf, isTryItOpen, send } from "./exchange.ts"
import { parameterKey, toRequest } from "./request.ts"
import { type SnippetKind, snippetKinds, toSnippet } from "./snippet.ts"
import { token } from "./token.ts"
import { TokenField } from "./token-field.tsx"

const panelId = "snippet"
/** The chosen kind of snippet, the same on every operation. */
const snippetKind = signal<SnippetKind>("curl")

/** The request as a snippet that follows the form, and the form. */
export function RequestCard({ api, operation }: { api: Api; operation: Operation }) {
  const { schemas } = api
  const request = toRequest(schemas, operation, exchangeOf(schemas, operation).draft.value, true)
  const hasToken =
    operation.auth === "required" || (operation.auth === "optional" && token.value.trim() !== "")
  const kind = snippetKinds.find((one) => one.kind === snippetKind.value) ?? snippetKinds[0]
  if (!kind) return null
  const code = toSnippet(kind.kind, { schemas, request, baseUrl: location.origin, hasToken })
  return (
    <section class="card" aria-label="Request">
      <div class="row card-head">
        <Tabs
          label="Request as"
          tabs={snippetKinds.map((one) => ({ id: one.kind, label: one.label }))}
          current={kind.kind}
          panelId={panelId}
          onPick={(picked) => {
            snippetKind.value = picked
          }}
        />
        <CopyButton text={code} label="Copy the request" />
      </div>
      <div id={panelId} role="tabpanel" aria-label={kind.label}>
        <CodeBlock code={code} language={kind.language} label={`Request as ${kind.label}`} />
      </div>
      <button
        type="button"
        class="row try-toggle"
        aria-expanded={isTryItOpen.value}
        onClick={setTo(isTryItOpen, !isTryItOpen.value)}
      >
        <Icon name="chevron" />
        Try it
      </button>
      {isTryItOpen.value ? <TryItForm key={operation.id} api={api} operation={operation} /> : null}
    </section>
  )
}

/** The form for an operation's parameters and body. */
function TryItForm({ api, operation }: { api: Api; operation: Operation }) {
  const { draft, state } = exchangeOf(api.schemas, operation)
  const current = state.value
  const submit = (event: SubmitEvent & { currentTarget: HTMLFormElement }) => {
    event.preventDefault()
    const empty = [
      ...event.currentTarget.querySelectorAll<HTMLInputElement>("[data-location=path]"),
    ].find((input) => input.value === "")
    empty?.focus()
    void send(api.schemas, operation)
  }
  const type = (parameter: Parameter, text: string) => {
    draft.value = {
      ...draft.value,
      parameters: { ...draft.value.parameters, [parameterKey(parameter)]: text },
    }
  }
  const field = (parameter: Parameter) => (
    <SchemaInput
      key={parameterKey(parameter)}
      schemas={api.schemas}
      name={parameter.name}
      location={parameter.location}
      schema={parameter.schema}
      isRequired={parameter.isRequired}
      value={draft.value.parameters[parameterKey(parameter)] ?? ""}
      onInput={(text) => type(parameter, text)}
    />
  )
  return (
    <form
      class="try"
      noValidate
      autocomplete="off"
      aria-label="Try it"
      onSubmit={submit}
      onKeyDown={submitOnModifiedEnter}
    >
      {operation.auth === "none" ? null : <TokenField isOptional={operation.auth === "optional"} />}
      {operation.parameters.filter((parameter) => parameter.location !== "header").map(field)}
      {operation.body ? (
        <BodyEditor
          schemas={api.schemas}
          body={operation.body}
          draft={draft.value.body}
          onChange={(body) => {
            draft.value = { ...draft.value, body }
          }}
        />
      ) : null}
      {operation.parameters.filter((parameter) => parameter.location === "header").map(field)}
      <div class="row wrap try-foot">
        <button
          type="submit"
          class={operation.method === "DELETE" ? "button button-danger" : "button"}
          disabled={current.kind === "sending"}
        >
          Send {operation.method}
        </button>
        {current.kind === "sending" ? (
          <button type="button" class="button button-quiet" onClick={current.stop}>
            Cancel
          </button>
        ) : (
          <span class="small breaks try-note">to {location.host}</span>
        )}
      </div>
    </form>
  )
}

/** In a text area Enter is a new line, so Ctrl or Cmd with Enter sends. */
function submitOnModifiedEnter(event: KeyboardEvent & { currentTarget: HTMLFormElement }): void {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return
  event.preventDefault()
  event.currentTarget.requestSubmit()
}
