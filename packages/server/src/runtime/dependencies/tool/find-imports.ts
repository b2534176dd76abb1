import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { type InfoDependency, type InfoSpan, readFileInfo } from "./deno-info.ts"
import { findClauseEnd } from "./find-clause.ts"
import type { DenoSetup } from "./run-deno.ts"
import type { TextRange } from "./tool-messages.ts"

/** A specifier in the code, and everywhere it stands. */
export interface FoundImport {
  readonly specifier: string
  /** Of `with { type: … }`. */
  readonly type: string | undefined
  /** Whether it may never be imported. */
  readonly isDynamic: boolean
  readonly places: readonly TextRange[]
  /** Why it cannot be read. */
  readonly error: string | null
}

/**
 * The imports of the code that are remote; none when it does not parse. Deno itself reads it, since
 * Deno is going to run it. It tells only the first place of each specifier, so that place is
 * blotted out, and it is asked again, until there is none left.
 */
export async function findImports(
  place: DenoSetup,
  code: string,
  isRemote: (specifier: string) => boolean,
  placesMax: number,
): Promise<FoundImport[]> {
  const found = new Map<string, FoundImport>()
  const shift = code.startsWith("\uFEFF") ? 1 : 0
  let text = code.slice(shift)
  for (let round = 0; ; round++) {
    const dependencies = await readDependencies(place, text)
    // It did parse before: one of the clauses does not end where we think it does.
    if (!dependencies)
      return [...found.values()].map((one) => (one.type ? { ...one, error: unreadable } : one))
    const remote = dependencies.filter((one) => one.code && isRemote(one.specifier))
    if (remote.length === 0) return [...found.values()]
    const read = text
    for (const one of remote) text = note(found, read, text, one, shift)
    if (round < placesMax) continue
    const rest = new Set(remote.map(toKey))
    return [...found].map(([key, one]) =>
      rest.has(key) ? { ...one, error: `the val says it more than ${placesMax} times` } : one,
    )
  }
}

const unreadable = "what follows its specifier cannot be read"

async function readDependencies(
  place: DenoSetup,
  text: string,
): Promise<readonly InfoDependency[] | undefined> {
  const path = join(place.cwd, "val.tsx")
  writeFileSync(path, text)
  const { modules } = await readFileInfo(place, path)
  const own = modules.find(({ specifier }) => specifier === pathToFileURL(path).href)
  return own?.error === undefined ? (own?.dependencies ?? []) : undefined
}

/**
 * Notes where an import stands in what Deno has read; gives the text without it, and as long as
 * before.
 */
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
  if (!span) throw new Error(`Deno has found "${one.specifier}" nowhere`)
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
    toBlot(text.slice(start, span.end)) +
    " ".repeat((end ?? span.end) - span.end) +
    text.slice(end ?? span.end)
  )
}

function toKey({ specifier, assertionType }: InfoDependency): string {
  return JSON.stringify([specifier, assertionType])
}

/** Something of the same length that is not remote, with or without quotes. */
function toBlot(literal: string): string {
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

/** Where a line begins. */
function findLine(text: string, line: number): number {
  let at = 0
  for (let index = 0; index < line; index++) {
    const end = text.indexOf("\n", at)
    if (end === -1) return -1
    at = end + 1
  }
  return at
}

/** So many code points further on. */
function advance(text: string, from: number, characters: number): number | undefined {
  let at = from
  for (let index = 0; index < characters && at >= 0 && at < text.length; index++)
    at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1
  return at < 0 ? undefined : at
}
