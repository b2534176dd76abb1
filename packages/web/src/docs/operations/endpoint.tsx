import { Fragment } from "preact"

/** The HTTP method, coloured. */
export function MethodBadge({ method }: { method: string }) {
  return (
    <span class={`method method-${method.toLowerCase()}`}>
      {method === "DELETE" ? "DEL" : method}
    </span>
  )
}

/** A path with highlighted parameters; it may wrap after each slash. */
export function PathText({ path }: { path: string }) {
  return (
    <code class="breaks path">
      {path.split(/(\{[^}]+\}|\/)/).map((part, index) => (
        <Fragment key={index}>
          {part.startsWith("{") ? <span class="path-parameter">{part}</span> : part}
          {part === "/" && index > 1 ? <wbr /> : null}
        </Fragment>
      ))}
    </code>
  )
}
