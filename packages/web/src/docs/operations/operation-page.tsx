import { CopyButton } from "../../ui/copy-button.tsx"
import { Icon } from "../../ui/icon.tsx"
import { useTitle } from "../../ui/page-states.tsx"
import { isTryItOpen } from "../requests/exchange.ts"
import { RequestCard } from "../requests/request-card.tsx"
import { ResponseCard } from "../requests/response-card.tsx"
import { type Api, type Operation, operationsOf } from "./api.ts"
import { MethodBadge, PathText } from "./endpoint.tsx"
import { InlineText } from "./inline-code.tsx"
import { OperationDocs } from "./operation-docs.tsx"

interface OperationPageProps {
  readonly api: Api
  readonly operation: Operation
}

/** One operation: the description on the left, request and response on the right. */
export function OperationPage({ api, operation }: OperationPageProps) {
  useTitle(operation.title, "Hamlet API")
  return (
    <article class="operation">
      <header class="operation-head">
        <p class="crumb">
          {operation.tag} <code class="crumb-id">{operation.id}</code>
        </p>
        <h1 tabIndex={-1}>{operation.title}</h1>
        <p class="lead">
          <InlineText>{operation.summary}</InlineText>
        </p>
        {operation.description ? (
          <p>
            <InlineText>{operation.description}</InlineText>
          </p>
        ) : null}
        <div class="row endpoint">
          <MethodBadge method={operation.method} />
          <PathText path={operation.path} />
          <CopyButton text={operation.path} label="Copy the path" />
        </div>
        <AuthNote operation={operation} />
        <JumpToForm />
      </header>
      <div class="operation-docs">
        <OperationDocs api={api} operation={operation} />
      </div>
      <aside class="console" aria-label="Request and response">
        <RequestCard api={api} operation={operation} />
        <ResponseCard api={api} operation={operation} />
      </aside>
      <Pager api={api} operation={operation} />
    </article>
  )
}

/** Where the form is below the description, this scrolls to it. */
function JumpToForm() {
  const jump = () => {
    isTryItOpen.value = true
    // The form has to be rendered before it can be scrolled to.
    requestAnimationFrame(() => {
      const toggle = document.querySelector<HTMLElement>(".try-toggle")
      toggle?.scrollIntoView({ block: "start" })
      toggle?.focus({ preventScroll: true })
    })
  }
  return (
    <button type="button" class="button jump" onClick={jump}>
      Go to the form
    </button>
  )
}

function AuthNote({ operation }: { operation: Operation }) {
  const scope = operation.scope ? ` with the scope \`${operation.scope}\`` : ""
  const text = {
    required: `Needs a token${scope}`,
    optional: `Works without a token; with one it shows more, and the token needs${scope ? ` the scope \`${operation.scope}\`` : " no scope"}`,
    none: "Needs no token",
  }[operation.auth]
  return (
    <p class="auth-note">
      <Icon name={operation.auth === "required" ? "lock" : "unlock"} />
      <span>
        <InlineText>{text}</InlineText>
      </span>
    </p>
  )
}

function Pager({ api, operation }: OperationPageProps) {
  const all = operationsOf(api)
  const index = all.findIndex((one) => one.id === operation.id)
  const next = all[index + 1]
  const previous = all[index - 1] ?? { id: "overview", title: "Overview" }
  return (
    <nav class="row wrap pager" aria-label="Previous and next">
      <a href={`#${previous.id}`}>
        <span class="pager-hint">Previous</span>
        {previous.title}
      </a>
      {next ? (
        <a class="pager-next" href={`#${next.id}`}>
          <span class="pager-hint">Next</span>
          {next.title}
        </a>
      ) : null}
    </nav>
  )
}
