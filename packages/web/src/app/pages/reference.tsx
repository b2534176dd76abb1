import { signal } from "@preact/signals"
import { useLayoutEffect, useMemo, useRef } from "preact/hooks"
import { EmptyState, useTitle } from "../../ui/page-states.tsx"
import { Loaded, NotFound } from "../data/loaded.tsx"
import { useResource } from "../data/resource.ts"
import { currentLocation, setQuery } from "../frame/location.ts"
import { PageHead } from "../parts/page-head.tsx"
import { Section } from "../parts/section.tsx"
import {
  type ApiDocument,
  filterOperations,
  listOperations,
  loadDocument,
  type Operation,
} from "../reference/document.ts"
import { InlineText } from "../reference/inline-text.tsx"
import { OperationNav, OperationTable } from "../reference/operation-list.tsx"
import { OperationView } from "../reference/operation-view.tsx"
import type { Typed } from "../reference/request-form.tsx"
import { SearchBox } from "../search/search-box.tsx"

const limits = { queryCharsMax: 100 }

/** The routes of the API: their schemas, and forms to try them. */
export function Page() {
  const document = useResource("openapi", loadDocument)
  return <Loaded of={document}>{(api) => <Reference api={api} />}</Loaded>
}

function Reference({ api }: { api: ApiDocument }) {
  const { query, hash } = currentLocation.value
  const id = hash.slice(1)
  const text = (query.get("q") ?? "").slice(0, limits.queryCharsMax)
  const operations = useMemo(() => listOperations(api), [api])
  const typed = useMemo<Typed>(
    () => ({ token: signal(""), isFormOpen: signal(false), drafts: new Map() }),
    [],
  )
  const operation = operations.find(({ operationId }) => operationId === id)
  useFocusAfterMove(id)
  return (
    <div class="docs reference">
      <aside class="docs-side">
        <search>
          <SearchBox
            label="Filter the operations"
            placeholder="Filter"
            charsMax={limits.queryCharsMax}
            value={text}
            onChange={(q) => setQuery({ q })}
          />
        </search>
        <OperationNav operations={operations} current={id} />
      </aside>
      <article class="docs-text">
        {text.trim() !== "" ? (
          <Hits operations={filterOperations(operations, text)} />
        ) : operation ? (
          <OperationView
            key={id}
            schemas={api.components.schemas}
            operation={operation}
            typed={typed}
          />
        ) : id === "" ? (
          <Overview api={api} operations={operations} />
        ) : (
          <NotFound />
        )}
      </article>
    </div>
  )
}

/** After a move the heading has the focus: the keyboard and screen readers continue there. */
function useFocusAfterMove(id: string): void {
  const before = useRef(id)
  useLayoutEffect(() => {
    if (before.current === id) return
    before.current = id
    scrollTo(0, 0)
    document.querySelector<HTMLElement>("h1[tabindex]")?.focus({ preventScroll: true })
  }, [id])
}

function Hits({ operations }: { operations: readonly Operation[] }) {
  useTitle("API reference")
  if (operations.length === 0)
    return (
      <EmptyState icon="search" title="No operation matches" isWholePage>
        <p>Every word must occur in its name, path or description. Try fewer words.</p>
      </EmptyState>
    )
  return (
    <>
      <h1>Operations</h1>
      <OperationTable operations={operations} />
    </>
  )
}

const conventions: readonly string[] = [
  "Lists are in pages: `limit` from 1 to 100, 20 if not given, and `offset`. `links.next` is the address of the next page; on the last one it is absent. It has a `cursor`: following it returns each item once, even when items are saved or deleted in between.",
  "Bodies are JSON. Times are ISO-8601 in UTC with milliseconds, ids are UUIDs. In a period, `since` is exclusive and `until` inclusive.",
  "Public and unlisted vals can be read without a token. Only its owner can read a private val; other users get 404.",
  'Send `If-Match: "3"` to get 412 when the val is no longer at version 3. `Idempotency-Key` on a POST makes it safe to retry.',
]

function Overview(props: { readonly api: ApiDocument; readonly operations: readonly Operation[] }) {
  const { description } = props.api.components.securitySchemes.token
  return (
    <>
      <PageHead
        title="API reference"
        lead={
          <>
            All addresses begin with <code>{location.origin}</code>. Requests need a bearer token:{" "}
            <InlineText>{description.charAt(0).toLowerCase() + description.slice(1)}</InlineText>{" "}
            The <a href="/openapi.json">OpenAPI document</a> describes the same routes for programs;
            what the words mean is in the <a href="/docs/vals">documentation</a>.
          </>
        }
      />
      <ul class="reference-conventions">
        {conventions.map((text) => (
          <li key={text}>
            <p>
              <InlineText>{text}</InlineText>
            </p>
          </li>
        ))}
        <li>
          <p>
            All errors have the same shape: branch on <code>code</code>, show <code>message</code>,
            and look up <code>requestId</code> in the server's log.{" "}
            <a href="/docs/errors">All codes</a>.
          </p>
        </li>
      </ul>
      <Section title="Operations">
        <OperationTable operations={props.operations} />
      </Section>
    </>
  )
}
