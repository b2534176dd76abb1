import type { Api, Operation, Parameter } from "../operations/api.ts"
import { Field } from "../schemas/schema-input.tsx"
import { BodyEditor } from "./body-editor.tsx"
import { exchangeOf, send } from "./exchange.ts"
import { parameterKey } from "./request.ts"
import { TokenField } from "./token-field.tsx"

interface TryItFormProps {
  readonly api: Api
  readonly operation: Operation
}

/** The form made from an operation's parameters and body. */
export function TryItForm({ api, operation }: TryItFormProps) {
  const { draft, state } = exchangeOf(api.schemas, operation)
  const current = state.value
  const submit = (event: SubmitEvent & { currentTarget: HTMLFormElement }) => {
    event.preventDefault()
    const empty = [
      ...event.currentTarget.querySelectorAll<HTMLInputElement>("[data-place=path]"),
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
    <Field
      key={parameterKey(parameter)}
      schemas={api.schemas}
      name={parameter.name}
      place={parameter.place}
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
      {operation.parameters.filter((parameter) => parameter.place !== "header").map(field)}
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
      {operation.parameters.filter((parameter) => parameter.place === "header").map(field)}
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
            Stop
          </button>
        ) : (
          <span class="try-note">to {location.host}, for real</span>
        )}
      </div>
    </form>
  )
}

/** In a box of several lines Enter is a new line, so sending takes Ctrl or Cmd with it. */
function submitOnModifiedEnter(event: KeyboardEvent & { currentTarget: HTMLFormElement }): void {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return
  event.preventDefault()
  event.currentTarget.requestSubmit()
}
