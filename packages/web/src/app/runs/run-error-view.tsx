import type { Output } from "@hamlet/contract/client"
import { parseStackLine, splitError } from "./stack.ts"

type RunError = NonNullable<Output<"getRun">["error"]>

/** The error of a run. Stack lines that point into vals are links. */
export function RunErrorView(props: { error: RunError; onGoTo?: (line: number) => void }) {
  const { error, onGoTo } = props
  const { title, details } = splitError(error)
  return (
    <div class="run-error" role="alert">
      <p class="bad">
        <strong>{error.name}</strong>: {title}
      </p>
      {details ? (
        <pre class="run-stack">
          {details.split("\n").map((text, index) => (
            <StackLine key={index} text={text} onGoTo={onGoTo} />
          ))}
        </pre>
      ) : null}
    </div>
  )
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
