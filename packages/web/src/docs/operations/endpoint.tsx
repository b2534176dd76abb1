import { Fragment } from "preact"

/** The method in its colour. */
export function MethodBadge({ method }: { method: string }) {
  return (
    <span class={`method method-${method.toLowerCase()}`}>
      {method === "DELETE" ? "DEL" : method}
    </span>
  )
}

/** A path with its parameters marked; it may break after every slash. */
export function PathText({ path }: { path: string }) {
  return (
    <code class="path">
      {path.split(/(\{[^}]+\}|\/)/).map((part, index) => (
        <Fragment key={index}>
          {part.startsWith("{") ? <span class="path-parameter">{part}</span> : part}
          {part === "/" && index > 1 ? <wbr /> : null}
        </Fragment>
      ))}
    </code>
  )
}
