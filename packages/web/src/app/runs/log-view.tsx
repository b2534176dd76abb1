import { useSignal } from "@preact/signals"
import { useLayoutEffect, useMemo, useRef } from "preact/hooks"
import { bindChoice, bindText } from "../../ui/bind.ts"
import { CopyButton } from "../../ui/copy-button.tsx"
import { IconButton } from "../../ui/icon.tsx"
import { Select } from "../parts/forms/field.tsx"
import { toClock } from "../parts/time.ts"
import { saveFile } from "../storage/save-file.ts"
import type { LogLine, RunDetail } from "./followed-run.ts"
import { isGoingOn } from "./list/run-kinds.ts"
import {
  describeGap,
  filterLines,
  findVisible,
  type LogGap,
  levels,
  toRows,
  withGap,
} from "./log-rows.ts"

const rowPixels = 20
const rowsAround = 20
const shownRowsMin = 6

/** Where a line comes from; it is a link or a button if that can be shown. */
interface LineOrigin {
  readonly label: string
  readonly title: string
  readonly href?: string
  readonly onOpen?: () => void
}

/** The log of a run. Only visible lines are rendered, so that ten thousand scroll like ten. */
export function LogView<Line extends LogLine>(props: {
  readonly lines: readonly Line[]
  readonly isLive: boolean
  readonly isTruncated: boolean
  /** The lines that are not kept, behind the first `after` lines. */
  readonly omitted?: LogGap | null | undefined
  readonly toOrigin?: (line: Line) => LineOrigin | undefined
  readonly onClear?: () => void
}) {
  const { isLive, isTruncated, omitted = null, toOrigin, onClear } = props
  const lines = useMemo(() => withGap(props.lines, omitted), [props.lines, omitted])
  const text = useSignal("")
  const level = useSignal(levels[0] ?? "")
  const shown = useMemo(
    () => filterLines(lines, level.value, text.value),
    [lines, level.value, text.value],
  )
  if (lines.length === 0)
    return <p class="quiet">{isLive ? "Nothing logged so far" : "Nothing was logged"}</p>
  return (
    <div class="column log">
      {omitted ? (
        <p class="small log-omitted">{describeGap(props.lines.length, omitted)}</p>
      ) : isTruncated ? (
        <p class="small log-omitted">A line was too long and is not kept completely.</p>
      ) : null}
      <div class="row wrap log-bar">
        <input
          class="input"
          type="search"
          aria-label="Search the logs"
          placeholder="Search"
          {...bindText(text)}
        />
        <Select
          label="Level"
          isLabelHidden
          choices={levels.map((value) => ({
            value,
            label: value === levels[0] ? "All levels" : `${value} and worse`,
          }))}
          {...bindChoice(level)}
        />
        <span class="quiet tiny" role="status">
          {shown.length === lines.length
            ? toCount(lines.length)
            : `${shown.length} of ${toCount(lines.length)}`}
        </span>
        <CopyButton text={() => toText(shown, toOrigin)} label="Copy the logs" />
        <IconButton
          icon="download"
          label="Download the logs"
          onClick={() => saveFile(toFile(toText(shown, toOrigin)), "logs.txt")}
        />
        {onClear ? <IconButton icon="trash" label="Clear the logs" onClick={onClear} /> : null}
      </div>
      <Lines lines={shown} isLive={isLive} toOrigin={toOrigin} />
    </div>
  )
}

/** The log of a run, as far as it has come. */
export function RunLog({ run }: { readonly run: LoggedRun }) {
  return (
    <LogView
      lines={run.logs}
      isLive={isGoingOn(run)}
      isTruncated={run.logsTruncated}
      omitted={run.logsOmitted}
    />
  )
}

type LoggedRun = Pick<RunDetail, "status" | "logs" | "logsTruncated" | "logsOmitted">

function Lines<Line extends LogLine>(props: {
  readonly lines: readonly Line[]
  readonly isLive: boolean
  readonly toOrigin: ((line: Line) => LineOrigin | undefined) | undefined
}) {
  const { lines, isLive, toOrigin } = props
  const element = useRef<HTMLDivElement>(null)
  const top = useSignal(0)
  const rowsSeen = useSignal(40)
  const isAtEnd = useRef(true)
  const rows = useMemo(() => toRows(lines), [lines])
  const total = rows.starts.at(-1) ?? 0
  useLayoutEffect(() => {
    const { current } = element
    if (!current) return
    rowsSeen.value = Math.ceil(current.clientHeight / rowPixels)
    // A reader who scrolled up stays there; otherwise the view follows new lines.
    if (isLive && isAtEnd.current) current.scrollTop = current.scrollHeight
  }, [lines, isLive])
  const { from, to } = findVisible(
    rows,
    Math.max(0, top.value - rowsAround),
    rowsSeen.value + 2 * rowsAround,
  )
  return (
    <div
      ref={element}
      class="log-lines"
      role="log"
      aria-label="Logged lines"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area needs keyboard access
      tabIndex={0}
      style={{ "--rows": Math.max(shownRowsMin, total) }}
      onScroll={(event) => {
        const { scrollTop, clientHeight, scrollHeight } = event.currentTarget
        top.value = Math.floor(scrollTop / rowPixels)
        isAtEnd.current = scrollTop + clientHeight >= scrollHeight - rowPixels
      }}
    >
      <div class="log-space" style={{ height: `${total * rowPixels}px` }}>
        <div style={{ transform: `translateY(${(rows.starts[from] ?? 0) * rowPixels}px)` }}>
          {lines.slice(from, to).map((line, index) => (
            <div key={from + index} class={`log-line log-${line.level}`}>
              <time dateTime={line.at}>{toClock(line.at)}</time>
              {toOrigin ? <Origin of={toOrigin(line)} /> : null}
              <span class="log-level">{line.level}</span>
              <span class="log-text">{line.message}</span>
            </div>
          ))}
        </div>
      </div>
    </div>
  )
}

function Origin({ of }: { readonly of: LineOrigin | undefined }) {
  const { label = "", title, href, onOpen } = of ?? {}
  const common = { class: "ellipsis log-origin", title }
  if (href !== undefined)
    return (
      <a {...common} href={href}>
        {label}
      </a>
    )
  if (!onOpen) return <span {...common}>{label}</span>
  return (
    <button {...common} class={`${common.class} link-button`} type="button" onClick={onOpen}>
      {label}
    </button>
  )
}

function toCount(lines: number): string {
  return lines === 1 ? "1 line" : `${lines.toLocaleString("en")} lines`
}

function toText<Line extends LogLine>(
  lines: readonly Line[],
  toOrigin: ((line: Line) => LineOrigin | undefined) | undefined,
): string {
  return lines
    .map((line) => {
      const { label } = toOrigin?.(line) ?? {}
      const origin = label === undefined ? "" : `${label} `
      return `${line.at} ${origin}${line.level} ${line.message}\n`
    })
    .join("")
}

function toFile(text: string): Blob {
  return new Blob([text], { type: "text/plain" })
}
