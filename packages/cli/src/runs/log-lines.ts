import type { Output } from "../output/output.ts"
import type { Colour } from "../terminal/colour.ts"
import type { RunDetail } from "./runs.ts"

/** A line of a run's log. */
export type LogLine = RunDetail["logs"][number]

/** The lines of a log that are not kept. */
export type LogGap = NonNullable<RunDetail["logsOmitted"]>

/** Says how much of a log is kept, if it is not all of it. */
export function noteGap(output: Output, kept: number, gap: LogGap | null): void {
  if (gap === null) return
  const say = (count: number) => count.toLocaleString("en")
  output.note(
    `${say(kept + gap.lines)} lines; the first ${say(gap.after)} and the last ${say(kept - gap.after)} are kept`,
  )
}

/** Prints a log line to standard error, while the run's result goes to standard output. */
export function writeLogAside(output: Output, { level, message }: LogLine): void {
  output.errorText(`${message}\n`, toLevelPaint(output.errorColour, level))
}

/** Prints a log line as the result; with its time for people. */
export function writeLog(output: Output, line: LogLine): void {
  if (output.mode === "json") output.json(line)
  else if (output.mode === "plain") output.text(`${line.message}\n`)
  else output.line(`${output.colour.dim(toClock(line.at))}  ${toPainted(output, line)}`)
}

/** The message without control characters, in the colour of its level. */
export function toPainted(output: Output, { level, message }: LogLine): string {
  return toLevelPaint(output.colour, level)(output.toVisible(message))
}

/** The local time of day. */
export function toClock(at: string): string {
  return new Date(at).toLocaleTimeString("sv-SE")
}

function toLevelPaint(colour: Colour, level: LogLine["level"]): (text: string) => string {
  if (level === "error") return colour.red
  if (level === "warn") return colour.yellow
  return level === "debug" ? colour.dim : (text) => text
}
