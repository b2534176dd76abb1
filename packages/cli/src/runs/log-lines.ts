import type { Output } from "../output/output.ts"
import type { Colour } from "../terminal/colour.ts"
import type { RunDetail } from "./runs.ts"

/** One line that a val logged. */
export type LogLine = RunDetail["logs"][number]

/** Shows what a val logs to whoever waits for its result. */
export function writeLogAside(output: Output, { level, message }: LogLine): void {
  output.errorText(`${message}\n`, toLevelPaint(output.errorColour, level))
}

/**
 * Shows what a run has logged as the result: the messages, with their time where somebody reads
 * them.
 */
export function writeLog(output: Output, line: LogLine): void {
  if (output.mode === "json") output.json(line)
  else if (output.mode === "plain") output.text(`${line.message}\n`)
  else output.line(`${output.colour.dim(toClock(line.at))}  ${toPainted(output, line)}`)
}

/** The message, safe and in the colour of its level. */
export function toPainted(output: Output, { level, message }: LogLine): string {
  return toLevelPaint(output.colour, level)(output.toVisible(message))
}

/** The time of day, where the person is. */
export function toClock(at: string): string {
  return new Date(at).toLocaleTimeString("sv-SE")
}

function toLevelPaint(colour: Colour, level: LogLine["level"]): (text: string) => string {
  if (level === "error") return colour.red
  if (level === "warn") return colour.yellow
  return level === "debug" ? colour.dim : (text) => text
}
