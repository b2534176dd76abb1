import type { Output } from "@hamlet/contract/client"
import { findPlace } from "./stack.ts"

type RunError = NonNullable<Output<"getRun">["error"]>

/** Why a run failed, with the lines of its stack that are the user's own as links. */
export function RunErrorView({
  error,
  onGoTo,
}: {
  error: RunError
  onGoTo?: (line: number) => void
}) {
  const stack = withoutTitle(error)
  return (
    <div class="run-error" role="alert">
      <p class="run-error-title">
        <strong>{error.name}</strong>: {error.message}
      </p>
      {stack ? (
        <pre class="run-stack">
          {stack.split("\n").map((text, index) => (
            <StackLine key={index} text={text} onGoTo={onGoTo} />
          ))}
        </pre>
      ) : null}
    </div>
  )
}

/** A stack begins with what is said above it already. */
function withoutTitle({ name, message, stack }: RunError): string | null | undefined {
  const title = `${name}: ${message}`
  return stack?.startsWith(title) ? stack.slice(title.length).replace(/^\n/, "") : stack
}

function StackLine({
  text,
  onGoTo,
}: {
  text: string
  onGoTo: ((line: number) => void) | undefined
}) {
  const found = findPlace(text)
  if (!found) return <div>{text}</div>
  const { before, label, after, user, val, line } = found
  const isHere = onGoTo && location.pathname.toLowerCase() === `/u/${user}/${val}`.toLowerCase()
  return (
    <div>
      {before}
      <a
        href={`/u/${user}/${val}?line=${line}`}
        onClick={(event) => {
          if (!isHere) return
          event.preventDefault()
          onGoTo(line)
        }}
      >
        {label}
      </a>
      {after}
    </div>
  )
}
