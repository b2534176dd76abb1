import type { Output } from "@hamlet/contract/client"
import { parseStackLine } from "./stack.ts"

type RunError = NonNullable<Output<"getRun">["error"]>

/** The error of a run. Stack lines that point into vals are links. */
export function RunErrorView(props: { error: RunError; onGoTo?: (line: number) => void }) {
  const { error, onGoTo } = props
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

/** Removes the first line of a stack, which repeats the title. */
function withoutTitle({ name, message, stack }: RunError): string | null | undefined {
  const title = `${name}: ${message}`
  return stack?.startsWith(title) ? stack.slice(title.length).replace(/^\n/, "") : stack
}

function StackLine(props: { text: string; onGoTo: ((line: number) => void) | undefined }) {
  const { text, onGoTo } = props
  const found = parseStackLine(text)
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
