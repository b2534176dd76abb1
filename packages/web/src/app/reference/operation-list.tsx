import { Fragment } from "preact"
import type { Operation } from "./document.ts"
import { InlineText } from "./inline-text.tsx"

/** The operations by tag, with their paths. */
export function OperationTable({ operations }: { operations: readonly Operation[] }) {
  return groupByTag(operations).map(([tag, group]) => (
    <section key={tag} class="reference-group">
      <h3>{tag}</h3>
      <ul>
        {group.map(({ operationId, method, path, summary }) => (
          <li key={operationId} class="ruled">
            <a class="reference-link" href={`/docs#${operationId}`}>
              <MethodBadge method={method} />
              <PathText path={path} />
              <span>
                <InlineText>{summary}</InlineText>
              </span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  ))
}

/** The titles of the operations by tag, beside the page. */
export function OperationNav(props: {
  readonly operations: readonly Operation[]
  readonly current: string
}) {
  return (
    <nav class="docs-pages" aria-label="Operations">
      {groupByTag(props.operations).map(([tag, group]) => (
        <div key={tag}>
          <h2>{tag}</h2>
          <ul>
            {group.map(({ operationId, title }) => (
              <li key={operationId}>
                <a
                  href={`/docs#${operationId}`}
                  {...(operationId === props.current ? { "aria-current": "page" as const } : {})}
                >
                  {title}
                </a>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  )
}

function groupByTag(
  operations: readonly Operation[],
): readonly (readonly [string, readonly Operation[]])[] {
  return [...Map.groupBy(operations, ({ tags }) => tags[0] ?? "")]
}

/** The HTTP method, coloured. */
export function MethodBadge({ method }: { method: string }) {
  return <span class={`method method-${method.toLowerCase()}`}>{method}</span>
}

/** A path; it may wrap after each slash. */
export function PathText({ path }: { path: string }) {
  return (
    <code class="breaks path">
      {path.split(/(?<=.\/)/).map((part, index) => (
        <Fragment key={index}>
          {part}
          <wbr />
        </Fragment>
      ))}
    </code>
  )
}
