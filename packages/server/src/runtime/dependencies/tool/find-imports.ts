import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { type DenoSetup, type InfoDependency, type InfoSpan, readFileInfo } from "./deno-info.ts"
import { findClauseEnd } from "./scan-code.ts"
import type { TextRange } from "./tool-messages.ts"

/** A specifier in the code, and all its occurrences. */
export interface FoundImport {
  readonly specifier: string
  /** Of `with { type: … }`. */
  readonly type: string | undefined
  /** Whether all its imports are dynamic. */
  readonly isDynamic: boolean
  readonly places: readonly TextRange[]
  /** Why it cannot be rewritten. */
  readonly error: string | null
}

/**
 * The remote imports of the code; none when it does not parse. Deno parses the code, because Deno
 * will run it. It reports only the first occurrence of each specifier, so that occurrence is
 * overwritten and Deno parses again, until none is left.
 */
export async function findImports(
  setup: DenoSetup,
  code: string,
  isRemote: (specifier: string) => boolean,
  placesMax: number,
): Promise<FoundImport[]> {
  const found = new Map<string, FoundImport>()
  const shift = code.startsWith("\uFEFF") ? 1 : 0
  let text = code.slice(shift)
  for (let round = 0; ; round++) {
    const dependencies = await readDependencies(setup, text)
    // It parsed before, so the end of an attribute clause was wrong.
    if (!dependencies)
      return [...found.values()].map((one) => (one.type ? { ...one, error: unreadable } : one))
    const remote = dependencies.filter(
      ({ code: place, specifier }) =>
        place && !placeholderPattern.test(specifier) && isRemote(specifier),
    )
    if (remote.length === 0) return [...found.values()]
    const read = text
    for (const one of remote) text = note(found, read, text, one, shift)
    if (round < placesMax) continue
    const rest = new Set(remote.map(toKey))
    return [...found].map(([key, one]) =>
      rest.has(key) ? { ...one, error: `the val imports it more than ${placesMax} times` } : one,
    )
  }
}

const unreadable = "the attributes after its specifier cannot be parsed"

async function readDependencies(
  setup: DenoSetup,
  text: string,
): Promise<readonly InfoDependency[] | undefined> {
  const path = join(setup.cwd, "val.tsx")
  writeFileSync(path, text)
  const { modules } = await readFileInfo(setup, path)
  const own = modules.find(({ specifier }) => specifier === pathToFileURL(path).href)
  return own?.error === undefined ? (own?.dependencies ?? []) : undefined
}

/** Adds an occurrence to `found`. Returns the text with the occurrence overwritten. */
function note(
  found: Map<string, FoundImport>,
  read: string,
  text: string,
  one: InfoDependency,
  shift: number,
): string {
  const span = one.code && toOffsets(read, one.code.span)
  const key = toKey(one)
  const known = found.get(key)
  if (!span) throw new Error(`Cannot find "${one.specifier}" in the code where Deno found it`)
  const { start } = span
  const end = one.assertionType === undefined ? span.end : findClauseEnd(read, span.end)
  found.set(key, {
    specifier: one.specifier,
    type: one.assertionType,
    isDynamic: (known?.isDynamic ?? true) && one.isDynamic === true,
    places: [...(known?.places ?? []), { start: start + shift, end: (end ?? span.end) + shift }],
    error: end === undefined ? unreadable : (known?.error ?? null),
  })
  return (
    text.slice(0, start) +
    toPlaceholder(text.slice(start, span.end)) +
    " ".repeat((end ?? span.end) - span.end) +
    text.slice(end ?? span.end)
  )
}

function toKey({ specifier, assertionType }: InfoDependency): string {
  return JSON.stringify([specifier, assertionType])
}

/** Deno appends the ending to the source of JSX. */
const placeholderPattern = /^\.\/x*(?:\/jsx-runtime)?$/

/** A local specifier of the same length, with or without quotes. */
function toPlaceholder(literal: string): string {
  const quote = /^["'`]/.exec(literal)?.[0] ?? ""
  return `${quote}./${"x".repeat(literal.length - 2 - 2 * quote.length)}${quote}`
}

function toOffsets(text: string, { start, end }: InfoSpan): TextRange | undefined {
  const lines = [start.line, end.line].map((line) => findLine(text, line))
  const [from, to] = [start, end].map(({ character }, index) =>
    advance(text, lines[index] ?? -1, character),
  )
  return from === undefined || to === undefined || from >= to ? undefined : { start: from, end: to }
}

/** The offset of a line; -1 when there is no such line. */
function findLine(text: string, line: number): number {
  let at = 0
  for (let index = 0; index < line; index++) {
    const end = text.indexOf("\n", at)
    if (end === -1) return -1
    at = end + 1
  }
  return at
}

/** The offset after that many code points. */
function advance(text: string, from: number, characters: number): number | undefined {
  let at = from
  for (let index = 0; index < characters && at >= 0 && at < text.length; index++)
    at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1
  return at < 0 ? undefined : at
}
