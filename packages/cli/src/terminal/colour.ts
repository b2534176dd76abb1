/** Colours text, or returns it unchanged. */
export interface Colour {
  bold(text: string): string
  dim(text: string): string
  red(text: string): string
  green(text: string): string
  yellow(text: string): string
  cyan(text: string): string
}

/** What decides whether to use colour. */
export interface ColourConditions {
  readonly isTerminal: boolean
  /** `false` after `--no-color`. */
  readonly isAllowed: boolean
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Whether to colour a stream. An empty NO_COLOR counts as absent, as its convention says. */
export function hasColour({ isTerminal, isAllowed, env }: ColourConditions): boolean {
  return isTerminal && isAllowed && !env.NO_COLOR && env.TERM !== "dumb"
}

/** Creates colour functions, or functions that do nothing. */
export function createColour(isOn: boolean): Colour {
  const paint = (open: number, close: number) => (text: string) =>
    isOn && text !== "" ? `\x1b[${open}m${text}\x1b[${close}m` : text
  return {
    bold: paint(1, 22),
    dim: paint(2, 22),
    red: paint(31, 39),
    green: paint(32, 39),
    yellow: paint(33, 39),
    cyan: paint(36, 39),
  }
}
