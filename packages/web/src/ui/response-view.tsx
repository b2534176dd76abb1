import { Icon } from "./icon.tsx"

/** The status line of an HTTP response. */
export function StatusCode({ status, statusText }: { status: number; statusText: string }) {
  return (
    <span class={`badge ${status < 400 ? "status-ok" : "status-error"}`}>
      {`${status} ${statusText}`.trim()}
    </span>
  )
}

type Headers = readonly (readonly [string, string])[]

/** The value of the header with that name, in lower case; empty for none. */
export function findHeader(headers: Headers, wanted: string): string {
  return headers.find(([name]) => name.toLowerCase() === wanted)?.[1] ?? ""
}

/** The headers of an HTTP response, folded away. */
export function HeaderList({ headers }: { headers: Headers }) {
  return (
    <details class="fold headers">
      <summary>
        <Icon name="chevron" />
        {headers.length} {headers.length === 1 ? "header" : "headers"}
      </summary>
      <dl class="header-list">
        {headers.map(([name, value], index) => (
          <div key={index}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </details>
  )
}
