import { type Colour, createColour } from "../terminal/colour.ts"
import { toOneLine, toVisible } from "../terminal/visible.ts"
import { type ListView, writeList } from "./list.ts"

/**
 * For whom output is: somebody at a terminal, a program that reads lines, or one that reads JSON.
 */
export type OutputMode = "human" | "plain" | "json"

/** Where output goes. */
export interface OutputOptions {
  readonly mode: OutputMode
  /** The width of the terminal. */
  readonly width: number
  readonly hasColour: boolean
  readonly hasErrorColour: boolean
  /** Whether what is written for people ends up on a terminal. */
  readonly isErrorTerminal: boolean
  writeOut(text: string): void
  writeError(text: string): void
}

/** One thing in the three ways it can be printable. */
export interface Printable {
  readonly json: unknown
  /** The one word that a script wants. */
  readonly plain: string
  readonly human: string
}

/** A field of a record: its name, its value, and how a person would rather read it. */
export type RecordField = readonly [
  name: string,
  value: string | number | boolean | null,
  human?: string,
]

/** What commands say. Results go to standard output and everything else to standard error. */
export interface Output {
  readonly mode: OutputMode
  readonly colour: Colour
  readonly errorColour: Colour
  /** A result. */
  print(printable: Printable): void
  /** The fields of one thing; `json` is the thing. */
  record(json: unknown, fields: readonly RecordField[]): void
  /** A list, as it comes. */
  list<Item>(items: AsyncIterable<Item>, view: ListView<Item>): Promise<void>
  /** A line of JSON. */
  json(value: unknown): void
  /** A line that is ready to be written. */
  line(text: string): void
  /** Text of somebody else's for a line of ours. */
  toVisible(text: string): string
  /** Text of somebody else's, as it is but for what a terminal would obey. */
  text(text: string): void
  /** The same for standard error. */
  errorText(text: string, paint?: (text: string) => string): void
  /** A remark to whoever waits, which is no result. */
  note(text: string): void
}

/** Output for one way of reading it. */
export function createOutput(options: OutputOptions): Output {
  const { mode, writeOut, writeError } = options
  const colour = createColour(options.hasColour)
  const errorColour = createColour(options.hasErrorColour)
  const json = (value: unknown) => writeOut(`${JSON.stringify(value)}\n`)
  return {
    mode,
    colour,
    errorColour,
    json,
    line: (text) => writeOut(`${text}\n`),
    toVisible: (text) => (mode === "human" ? toVisible(text) : text),
    print: (printable) =>
      mode === "json"
        ? json(printable.json)
        : writeOut(`${mode === "human" ? printable.human : toOneLine(printable.plain)}\n`),
    record(value, fields) {
      if (mode === "json") return json(value)
      for (const line of toRecordLines(fields, mode === "human", colour)) writeOut(`${line}\n`)
    },
    list: (items, view) =>
      writeList(
        { mode, colour, width: options.width, json, writeLine: (line) => writeOut(`${line}\n`) },
        items,
        view,
      ),
    text: (text) => writeOut(mode === "human" ? toVisible(text) : text),
    errorText: (text, paint = (same) => same) =>
      writeError(paint(options.isErrorTerminal ? toVisible(text) : text)),
    note: (text) =>
      writeError(`${errorColour.dim(options.isErrorTerminal ? toVisible(text) : text)}\n`),
  }
}

/** A line for each field: aligned for a person, name and value with a tab between for a program. */
function toRecordLines(
  fields: readonly RecordField[],
  isHuman: boolean,
  colour: Colour,
): readonly string[] {
  if (!isHuman)
    return fields.map(
      ([name, value]) => `${name}\t${value === null ? "" : toOneLine(String(value))}`,
    )
  const width = Math.max(...fields.map(([name]) => name.length))
  const shown = fields.filter(([, value]) => value !== null)
  return shown.map(
    ([name, value, human]) =>
      `${colour.dim(name.padEnd(width))}  ${toOneLine(human ?? String(value))}`,
  )
}
