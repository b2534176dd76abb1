import { type Signal, useSignal } from "@preact/signals"
import { bindText, setTo } from "../../ui/bind.ts"
import { CodeBlock } from "../../ui/code/code-block.tsx"
import { toCurl } from "../../ui/code/to-curl.ts"
import { CopyButton } from "../../ui/copy-button.tsx"
import { Icon } from "../../ui/icon.tsx"
import { Field, Select } from "../parts/forms/field.tsx"
import { viewer } from "../session/session.ts"
import { allowedValues } from "./describe-schema.ts"
import type { Operation, Parameter } from "./document.ts"
import { parameterKey, type RequestDraft, toBodyExample, toRequest } from "./request.ts"
import { ResponseView, type SendState } from "./response.tsx"
import { resolveSchema, type Schemas } from "./schema.ts"
import { sendRequest } from "./send-request.ts"

/** What the user has typed. It stays while the user views other operations. */
export interface Typed {
  readonly token: Signal<string>
  readonly isFormOpen: Signal<boolean>
  readonly drafts: Map<string, Signal<RequestDraft>>
}

interface RequestFormProps {
  readonly schemas: Schemas
  readonly operation: Operation
  readonly draft: Signal<RequestDraft>
  readonly typed: Typed
}

/** The request as a command that follows the form, the form, and the response. */
export function RequestForm(props: RequestFormProps) {
  const { operation, draft, typed } = props
  const state = useSignal<SendState>({ kind: "idle" })
  const request = toRequest(operation, draft.value)
  const isTokenNeeded = operation.security.length === 1 || typed.token.value !== ""
  const command = toCurl({
    ...request,
    url: location.origin + request.path,
    hasToken: request.needsToken && isTokenNeeded,
  })
  const submit = async (event: Event) => {
    event.preventDefault()
    const controller = new AbortController()
    const { signal } = controller
    state.value = { kind: "sending", stop: () => controller.abort() }
    try {
      const options = { origin: location.origin, token: typed.token.value.trim(), signal }
      state.value = { kind: "received", response: await sendRequest(request, options) }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      state.value = {
        kind: "failed",
        message: signal.aborted ? "Cancelled" : `Cannot send the request: ${reason}`,
      }
    }
  }
  const isSending = state.value.kind === "sending"
  return (
    <div class="card reference-request">
      <div class="reference-command">
        <CodeBlock code={command} language="shell" label="The request as a command" isWrapped />
        <CopyButton text={command} label="Copy the command" />
      </div>
      <button
        type="button"
        class="row small link-button reference-toggle"
        aria-expanded={typed.isFormOpen.value}
        onClick={setTo(typed.isFormOpen, !typed.isFormOpen.value)}
      >
        <Icon name="chevron" />
        Try it
      </button>
      {typed.isFormOpen.value ? (
        <form class="form card-pad" aria-label="Try it" autocomplete="off" onSubmit={submit}>
          <Inputs {...props} />
          <div class="row form-foot">
            <button
              type="submit"
              class={operation.method === "DELETE" ? "button button-danger" : "button"}
              disabled={isSending}
            >
              Send {operation.method}
            </button>
            {state.value.kind === "sending" ? (
              <button type="button" class="button button-quiet" onClick={state.value.stop}>
                Cancel
              </button>
            ) : null}
          </div>
        </form>
      ) : null}
      <ResponseView state={state.value} />
    </div>
  )
}

function Inputs({ schemas, operation, draft, typed }: RequestFormProps) {
  const change = (changes: Partial<RequestDraft>) => {
    draft.value = { ...draft.value, ...changes }
  }
  const { parameters, contentType, body } = draft.value
  const me = viewer()?.username
  const contentTypes = Object.keys(operation.requestBody?.content ?? {})
  return (
    <>
      {operation.security.length > 0 ? (
        <Field
          label="Token"
          hint={
            me === undefined
              ? "It is sent to this server only, and forgotten with the page."
              : `Requests are sent as ${me}, unless there is a token.`
          }
        >
          <input
            class="input input-mono"
            type="password"
            autocomplete="off"
            {...bindText(typed.token)}
          />
        </Field>
      ) : null}
      {operation.parameters.map((parameter) => {
        const key = parameterKey(parameter)
        return (
          <ParameterInput
            key={key}
            schemas={schemas}
            parameter={parameter}
            value={parameters[key] ?? ""}
            onChange={(text) => change({ parameters: { ...parameters, [key]: text } })}
          />
        )
      })}
      {contentTypes.length > 1 ? (
        <Select
          label="Content type"
          value={contentType}
          choices={contentTypes.map((value) => ({ value, label: value }))}
          onChange={(picked) =>
            change({ contentType: picked, body: toBodyExample(schemas, operation, picked) })
          }
        />
      ) : null}
      {contentType === "" ? null : (
        <Field label="Body" hint={contentType}>
          <textarea
            class="input input-mono"
            rows={Math.min(20, Math.max(4, body.split("\n").length))}
            spellcheck={false}
            autocapitalize="off"
            value={body}
            onInput={(event) => change({ body: event.currentTarget.value })}
          />
        </Field>
      )}
    </>
  )
}

function ParameterInput(props: {
  readonly schemas: Schemas
  readonly parameter: Parameter
  readonly value: string
  readonly onChange: (text: string) => void
}) {
  const { schemas, parameter, value, onChange } = props
  const { name, required } = parameter
  const { schema } = resolveSchema(schemas, parameter.schema)
  const label = required ? `${name} (required)` : name
  const values = schema.type === "boolean" ? ["true", "false"] : allowedValues(schemas, schema)
  if (values.length > 0 && schema.type !== "array")
    return (
      <Select
        label={label}
        value={value}
        choices={["", ...values].map((one) => ({ value: one, label: one === "" ? "–" : one }))}
        onChange={onChange}
      />
    )
  return (
    <Field label={label} hint={schema.type === "array" ? "Separated by commas" : undefined}>
      <input
        class="input input-mono"
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        // Without its path parameters, a request would match another route.
        required={parameter.in === "path"}
        {...(parameter.in === "path"
          ? { pattern: "(?!\\.{1,2}$).*", title: "Browsers remove . and .. from a path" }
          : {})}
        value={value}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </Field>
  )
}
