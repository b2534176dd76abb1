import type { Output } from "@hamlet/contract/client"
import { useSignal } from "@preact/signals"
import { Icon } from "../../../ui/icon.tsx"
import { api } from "../../api.ts"
import { explain } from "../../data/explain.ts"
import { parseHeaders } from "./parse-headers.ts"
import { ValResponseView } from "./val-response-view.tsx"

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"] as const

type State =
  | { readonly kind: "none" }
  | { readonly kind: "sending" }
  | { readonly kind: "received"; readonly response: Output<"sendValRequest"> }
  | { readonly kind: "failed"; readonly message: string }

/** Sends a request to the val as the signed-in user, and shows the response. */
export function RequestBuilder({ valId }: { valId: string }) {
  const request = useSignal({ method: "GET", path: "/", headers: "", body: "" })
  const state = useSignal<State>({ kind: "none" })
  const change = (changes: Partial<typeof request.value>) => {
    request.value = { ...request.value, ...changes }
  }
  const { method, path, headers, body } = request.value
  const hasBody = method !== "GET" && method !== "HEAD"
  const send = async (event: Event) => {
    event.preventDefault()
    state.value = { kind: "sending" }
    try {
      const input = {
        val_id: valId,
        method,
        path,
        headers: parseHeaders(headers),
        ...(hasBody && body !== "" ? { body } : {}),
      }
      state.value = { kind: "received", response: await api.sendValRequest(input) }
    } catch (error) {
      state.value = { kind: "failed", message: explain(error) }
    }
  }
  return (
    <>
      <form class="request-form" onSubmit={send}>
        <div class="request-line">
          <select
            class="input"
            aria-label="Method"
            value={method}
            onChange={(event) => change({ method: event.currentTarget.value })}
          >
            {methods.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
          <input
            class="input input-mono"
            aria-label="Path and query"
            spellcheck={false}
            autocomplete="off"
            value={path}
            onInput={(event) => change({ path: event.currentTarget.value })}
          />
          <button type="submit" class="button" disabled={state.value.kind === "sending"}>
            {state.value.kind === "sending" ? "Sending…" : "Send"}
          </button>
        </div>
        <details class="fold">
          <summary>
            <Icon name="chevron" /> Headers{hasBody ? " and body" : ""}
          </summary>
          <textarea
            class="input input-mono"
            aria-label="Headers, one per line"
            placeholder="content-type: application/json"
            spellcheck={false}
            value={headers}
            onInput={(event) => change({ headers: event.currentTarget.value })}
          />
          {hasBody ? (
            <textarea
              class="input input-mono"
              aria-label="Body"
              placeholder="Body"
              spellcheck={false}
              value={body}
              onInput={(event) => change({ body: event.currentTarget.value })}
            />
          ) : null}
        </details>
      </form>
      <div class="request-response" aria-live="polite">
        {state.value.kind === "failed" ? (
          <p class="field-error" role="alert">
            {state.value.message}
          </p>
        ) : null}
        {state.value.kind === "received" ? (
          <ValResponseView response={state.value.response} />
        ) : null}
      </div>
    </>
  )
}
