import { signal } from "@preact/signals"
import { setTo } from "../../ui/bind.ts"
import { CodeBlock } from "../../ui/code/code-block.tsx"
import { CopyButton } from "../../ui/copy-button.tsx"
import { Icon } from "../../ui/icon.tsx"
import { Tabs } from "../../ui/tabs.tsx"
import type { Api, Operation } from "../operations/api.ts"
import { exchangeOf, isTryItOpen } from "./exchange.ts"
import { toRequest } from "./request.ts"
import { type SnippetKind, snippetKinds, toSnippet } from "./snippet.ts"
import { token } from "./token.ts"
import { TryItForm } from "./try-it-form.tsx"

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
      <div class="card-head">
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
        class="try-toggle"
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
