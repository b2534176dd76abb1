import { CopyButton } from "../../ui/copy-button.tsx"
import { Icon } from "../../ui/icon.tsx"
import { PageTitle } from "../frame/page-title.tsx"
import { isTryItOpen } from "../requests/exchange.ts"
import { RequestCard } from "../requests/request-card.tsx"
import { AnswerCard } from "../requests/response-card.tsx"
import { type Api, type Operation, operationsOf } from "./api.ts"
import { MethodBadge, PathText } from "./endpoint.tsx"
import { OperationDocs } from "./operation-docs.tsx"
import { Text } from "./text.tsx"

interface OperationPageProps {
  readonly api: Api
  readonly operation: Operation
}

/** One operation: what to read on the left, what to send and what comes back on the right. */
export function OperationPage({ api, operation }: OperationPageProps) {
  return (
    <article class="operation">
      <header class="operation-head">
        <p class="crumb">
          {operation.tag} <code class="crumb-id">{operation.id}</code>
        </p>
        <PageTitle title={operation.title} />
        <p class="lead">
          <Text>{operation.summary}</Text>
        </p>
        {operation.description ? (
          <p>
            <Text>{operation.description}</Text>
          </p>
        ) : null}
        <div class="endpoint">
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
      <aside class="console" aria-label="Request and answer">
        <RequestCard api={api} operation={operation} />
        <AnswerCard api={api} operation={operation} />
      </aside>
      <Pager api={api} operation={operation} />
    </article>
  )
}

/** Where the form stands below everything there is to read, this is the short way to it. */
function JumpToForm() {
  const jump = () => {
    isTryItOpen.value = true
    // The form is made first; then it can be gone to.
    requestAnimationFrame(() => {
      const toggle = document.querySelector<HTMLElement>(".try-toggle")
      toggle?.scrollIntoView({ block: "start" })
      toggle?.focus({ preventScroll: true })
    })
  }
  return (
    <button type="button" class="button jump" onClick={jump}>
      Go and try it
    </button>
  )
}

function AuthNote({ operation }: { operation: Operation }) {
  const scope = operation.scope ? ` with the scope \`${operation.scope}\`` : ""
  const text = {
    required: `Needs a token${scope}`,
    optional: `Works without a token; one that is sent shows more and needs${scope ? ` the scope \`${operation.scope}\`` : " no scope"}`,
    none: "Needs no token",
  }[operation.auth]
  return (
    <p class="auth-note">
      <Icon name={operation.auth === "required" ? "lock" : "unlock"} />
      <span>
        <Text>{text}</Text>
      </span>
    </p>
  )
}

function Pager({ api, operation }: OperationPageProps) {
  const all = operationsOf(api)
  const index = all.findIndex((one) => one.id === operation.id)
  const previous = all[index - 1]
  const next = all[index + 1]
  return (
    <nav class="pager" aria-label="Previous and next">
      {previous ? (
        <a href={`#${previous.id}`}>
          <span class="pager-hint">Previous</span>
          {previous.title}
        </a>
      ) : (
        <a href="#overview">
          <span class="pager-hint">Previous</span>
          Overview
        </a>
      )}
      {next ? (
        <a class="pager-next" href={`#${next.id}`}>
          <span class="pager-hint">Next</span>
          {next.title}
        </a>
      ) : null}
    </nav>
  )
}
