import type { Api, Operation, Parameter } from "../operations/api.ts"
import { SchemaInput } from "../schemas/schema-input.tsx"
import { BodyEditor } from "./body-editor.tsx"
import { exchangeOf, send } from "./exchange.ts"
import { parameterKey } from "./request.ts"
import { TokenField } from "./token-field.tsx"

/** The form for an operation's parameters and body. */
export function TryItForm({ api, operation }: { api: Api; operation: Operation }) {
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
      <div class="try-foot">
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
          <span class="try-note">to {location.host}</span>
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
