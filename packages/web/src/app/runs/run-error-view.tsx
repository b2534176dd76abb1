import type { Output } from "@hamlet/contract/client"
import { parseStackLine, splitError } from "./stack.ts"

type RunError = NonNullable<Output<"getRun">["error"]>

/** Shows a line of the val that the page is about: of a file, or of main.tsx. */
export type GoToStack = (file: string | undefined, line: number) => void

/** The error of a run. Stack lines that point into vals are links. */
export function RunErrorView(props: {
  error: RunError
  onGoTo?: GoToStack | undefined
  /** The page shows the error elsewhere, where it is announced. */
  isRepeated?: boolean
}) {
  const { error, onGoTo, isRepeated = false } = props
  const { title, details } = splitError(error)
  return (
    <div class="run-error" {...(isRepeated ? {} : { role: "alert" })}>
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

function StackLine(props: { text: string; onGoTo: GoToStack | undefined }) {
  const { text, onGoTo } = props
  const found = parseStackLine(text)
  if (!found) return <div>{text}</div>
  const { before, label, after, user, val, file, line } = found
  const base = `/u/${user}/${val}`
  const isHere =
    onGoTo && `${location.pathname}/`.toLowerCase().startsWith(`${base}/`.toLowerCase())
  const query = new URLSearchParams({ ...(file && { file }), line: `${line}` })
  return (
    <div>
      {before}
      <a
        href={`${base}?${query}`}
        onClick={(event) => {
          if (!isHere) return
          event.preventDefault()
          onGoTo(file, line)
        }}
      >
        {label}
      </a>
      {after}
    </div>
  )
}
