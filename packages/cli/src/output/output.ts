import { type Colour, createColour } from "../terminal/colour.ts"
import { toOneLine, toVisible } from "../terminal/visible.ts"
import { type ListView, writeList } from "./list.ts"
import { type Field, toFieldLines } from "./record.ts"

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

/** One thing in the three ways it can be told. */
export interface Told {
  readonly json: unknown
  /** The one word that a script wants. */
  readonly plain: string
  readonly human: string
}

/** What commands say. Results go to standard output and everything else to standard error. */
export interface Output {
  readonly mode: OutputMode
  readonly colour: Colour
  readonly errorColour: Colour
  /** A result. */
  tell(told: Told): void
  /** The fields of one thing; `json` is the thing. */
  record(json: unknown, fields: readonly Field[]): void
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
    tell: (told) =>
      mode === "json"
        ? json(told.json)
        : writeOut(`${mode === "human" ? told.human : toOneLine(told.plain)}\n`),
    record(value, fields) {
      if (mode === "json") return json(value)
      for (const line of toFieldLines(fields, mode === "human", colour)) writeOut(`${line}\n`)
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
