import { CodeBlock } from "../../ui/code/code-block.tsx"
import { CopyButton } from "../../ui/copy-button.tsx"
import { useTitle } from "../../ui/page-states.tsx"
import { TokenField } from "../requests/token-field.tsx"
import type { Api, OperationGroup } from "./api.ts"
import { MethodBadge, PathText } from "./endpoint.tsx"
import { errorCodes } from "./error-meanings.ts"
import { ErrorTable } from "./error-table.tsx"
import { InlineText } from "./inline-code.tsx"

const conventions: readonly (readonly [string, string])[] = [
  [
    "Lists",
    "Newest first, in pages: `limit` from 1 to 100, 20 if not given, and `offset`. `links.next` is the address of the next page; on the last one it is absent. It has a `cursor`: following it returns each item once, even when items are saved or deleted in between.",
  ],
  [
    "Values",
    "Bodies are JSON. Times are ISO-8601 in UTC with milliseconds, ids are UUIDs. In a period, `since` is exclusive and `until` inclusive; a time without a zone is in UTC, and a date means its start.",
  ],
  [
    "Privacy",
    "Public and unlisted vals can be read without a token. Only its owner can read a private val; other users get 404.",
  ],
  [
    "Saving",
    'Send `If-Match: "3"` to get 412 when the val is no longer at version 3. `Idempotency-Key` on a POST makes it safe to retry.',
  ],
]

/** The first page: how to call the API, its conventions, operations and errors. */
export function Overview({ api }: { api: Api }) {
  useTitle(`${api.title} API`, "Hamlet API")
  const call = `curl ${location.origin}/v1/me \\\n  -H "Authorization: Bearer $HAMLET_TOKEN"`
  return (
    <div class="overview">
      <header>
        <h1 tabIndex={-1}>{`${api.title} API`}</h1>
        <p class="lead">
          {api.summary ? `${api.summary}. ` : ""}Read the reference, and try requests from here.
        </p>
      </header>
      <section>
        <h2>Start</h2>
        <p>
          All addresses begin with <code>{location.origin}</code>. Requests need a bearer token
          <InlineText>
            {api.tokenHelp
              ? `: ${api.tokenHelp.charAt(0).toLowerCase()}${api.tokenHelp.slice(1)}`
              : "."}
          </InlineText>
        </p>
        <div class="card card-code">
          <CodeBlock code={call} language="shell" label="A first request" />
          <CopyButton text={call} label="Copy the request" />
        </div>
        <form class="card card-form" onSubmit={(event) => event.preventDefault()}>
          <TokenField />
          <p class="field-text">
            For trying requests on this page. It is sent to this server only.
          </p>
        </form>
      </section>
      <section>
        <h2>Conventions</h2>
        <dl class="conventions">
          {conventions.map(([name, text]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <InlineText>{text}</InlineText>
              </dd>
            </div>
          ))}
        </dl>
      </section>
      <section>
        <h2>Operations</h2>
        {api.groups.map((group) => (
          <GroupTable key={group.name} group={group} />
        ))}
      </section>
      <section>
        <h2>Errors</h2>
        <p>
          All errors have the same shape. Branch on <code>code</code>, show <code>message</code> to
          users, and look up <code>requestId</code> in the server's log.
        </p>
        <ErrorTable
          errors={Object.entries(errorCodes).map(([code, { status }]) => ({
            code,
            status: String(status),
          }))}
        />
      </section>
    </div>
  )
}

function GroupTable({ group }: { group: OperationGroup }) {
  return (
    <section class="group">
      <h3>{group.name}</h3>
      <ul>
        {group.operations.map((operation) => (
          <li key={operation.id}>
            <a class="group-link" href={`#${operation.id}`}>
              <MethodBadge method={operation.method} />
              <PathText path={operation.path} />
              <span class="group-text">
                <InlineText>{operation.summary}</InlineText>
              </span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  )
}
