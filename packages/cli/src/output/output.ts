import { type Colour, createColour } from "../terminal/colour.ts"
import { toOneLine, toVisible } from "../terminal/visible.ts"
import { type ListView, writeList } from "./list.ts"

/**
 * Who reads the output: a person at a terminal, a program that reads lines, or one that reads JSON.
 */
export type OutputMode = "human" | "plain" | "json"

/** Where and how to print. */
export interface OutputOptions {
  readonly mode: OutputMode
  /** The width of the terminal. */
  readonly width: number
  readonly hasColour: boolean
  readonly hasErrorColour: boolean
  /** Whether standard error is a terminal. */
  readonly isErrorTerminal: boolean
  writeOut(text: string): void
  writeError(text: string): void
}

/** One result in the three output formats. */
export interface Printable {
  readonly json: unknown
  /** The single value a script needs. */
  readonly plain: string
  readonly human: string
}

/** A field of a record: its name, its value, and how people see it. */
export type RecordField = readonly [
  name: string,
  value: string | number | boolean | null,
  human?: string,
]

/** The output of a command. Results go to standard output, everything else to standard error. */
export interface Output {
  readonly mode: OutputMode
  readonly colour: Colour
  readonly errorColour: Colour
  /** Prints a result. */
  print(printable: Printable): void
  /** Prints the fields of one record; `json` is the record itself. */
  record(json: unknown, fields: readonly RecordField[]): void
  /** Prints a list. */
  list<Item>(items: AsyncIterable<Item>, view: ListView<Item>): Promise<void>
  /** Prints a line of JSON. */
  json(value: unknown): void
  /** Prints a line as it is. */
  line(text: string): void
  /** Makes foreign text safe for a line of ours. */
  toVisible(text: string): string
  /** Prints foreign text without control characters that a terminal would obey. */
  text(text: string): void
  /** Prints foreign text to standard error. */
  errorText(text: string, paint?: (text: string) => string): void
  /** Prints a note for people to standard error. */
  note(text: string): void
}

/** Creates the output for one mode. */
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

/** A line per field: aligned for people, tab-separated for programs. */
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
