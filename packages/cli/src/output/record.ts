import type { Colour } from "../terminal/colour.ts"
import { toOneLine } from "../terminal/visible.ts"

/** A field of a record: its name, its value, and how a person would rather read it. */
export type Field = readonly [name: string, value: string | number | boolean | null, human?: string]

/** A line for each field: aligned for a person, name and value with a tab between for a program. */
export function toFieldLines(
  fields: readonly Field[],
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
