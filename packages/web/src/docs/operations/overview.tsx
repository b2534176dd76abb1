import { CopyButton } from "../../ui/copy-button.tsx"
import { PageTitle } from "../frame/page-title.tsx"
import { TokenField } from "../requests/token-field.tsx"
import { CodeBlock } from "../snippets/code-block.tsx"
import type { Api, OperationGroup } from "./api.ts"
import { MethodBadge, PathText } from "./endpoint.tsx"
import { errorCodes } from "./error-meanings.ts"
import { ErrorTable } from "./error-table.tsx"
import { Text } from "./text.tsx"

const conventions: readonly (readonly [string, string])[] = [
  [
    "Lists",
    "Newest first, in pages: `limit` from 1 to 100, 20 if not given, and `offset`. `links.next` is the address of the next page; on the last one it is absent. It has a `cursor`: whoever follows it sees each item once, whatever is saved and deleted meanwhile.",
  ],
  [
    "Values",
    "Bodies are JSON. Times are ISO-8601 in UTC with milliseconds, ids are UUIDs. In a period, `since` is exclusive and `until` inclusive; a time without a zone is in UTC, and a date is its first moment.",
  ],
  [
    "Privacy",
    "Public and unlisted vals can be read without a token. A private val exists only for its owner; everybody else gets 404.",
  ],
  [
    "Saving",
    'Send `If-Match: "3"` to be refused with 412 when the val has moved on from version 3. `Idempotency-Key` on a POST makes it safe to send again.',
  ],
]

/** The first page: how to call the API at all, and everything there is. */
export function Overview({ api }: { api: Api }) {
  const call = `curl ${location.origin}/v1/me \\\n  -H "Authorization: Bearer $HAMLET_TOKEN"`
  return (
    <div class="overview">
      <header class="overview-head">
        <PageTitle title={`${api.title} API`} />
        <p class="lead">
          {api.summary ? `${api.summary}. ` : ""}Read what it can do, and try it from here.
        </p>
      </header>
      <section>
        <h2>Start</h2>
        <p>
          Every address begins with <code>{location.origin}</code>. Requests carry a bearer token
          <Text>
            {api.tokenHelp
              ? `: ${api.tokenHelp.charAt(0).toLowerCase()}${api.tokenHelp.slice(1)}`
              : "."}
          </Text>
        </p>
        <div class="card card-code">
          <CodeBlock code={call} language="shell" label="A first request" />
          <CopyButton text={call} label="Copy the request" />
        </div>
        <form class="card card-form" onSubmit={(event) => event.preventDefault()}>
          <TokenField />
          <p class="field-text">
            For trying things out on this page. It goes to this server and nowhere else.
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
                <Text>{text}</Text>
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
          Every error has the same shape. Branch on <code>code</code>, show <code>message</code> to
          a person; <code>requestId</code> finds the request in the server's log.
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
      <ul class="group-list">
        {group.operations.map((operation) => (
          <li key={operation.id}>
            <a class="group-link" href={`#${operation.id}`}>
              <MethodBadge method={operation.method} />
              <PathText path={operation.path} />
              <span class="group-text">
                <Text>{operation.summary}</Text>
              </span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  )
}
