import { writeFileSync } from "node:fs"
import { pathToFileURL } from "node:url"
import { type ModuleType, toModuleType } from "@hamlet/sandbox"
import type { ImportRules } from "../import-rules.ts"
import type { ImportPlace, SourceFile } from "../resolved-packages.ts"
import { type DenoSetup, type InfoDependency, type InfoSpan, readFileInfo } from "./deno-info.ts"
import { findClauseEnd } from "./scan-code.ts"

/** A specifier in the code, and all its occurrences. */
export interface FoundImport {
  readonly specifier: string
  /** The type in `with { type: … }`. */
  readonly type: string | undefined
  /** Whether all its imports are dynamic. */
  readonly isDynamic: boolean
  readonly places: readonly ImportPlace[]
  /** Why it cannot be rewritten. */
  readonly error: string | null
}

/** The remote imports of the files. */
export async function findImports(
  setup: DenoSetup,
  files: readonly SourceFile[],
  rules: ImportRules,
  placesMax: number,
): Promise<FoundImport[]> {
  const found = new Map<string, FoundImport>()
  for (const [index, file] of files.entries())
    for (const one of [
      ...(await findImportsOf(setup, file, index, rules, placesMax)),
      ...listImplicit(file, index, rules),
    ]) {
      const key = toKey({ specifier: one.specifier, assertionType: one.type })
      const known = found.get(key)
      found.set(key, known ? join(known, one) : one)
    }
  return [...found.values()]
}

/** What the rules add: a comment at the beginning of the file will name it. */
function listImplicit(file: SourceFile, index: number, rules: ImportRules): readonly FoundImport[] {
  return rules
    .listImplicit(file)
    .filter(rules.isRemote)
    .map((specifier) => ({
      specifier,
      type: undefined,
      isDynamic: false,
      error: null,
      places: [{ file: index, start: 0, end: 0 }],
    }))
}

function join(known: FoundImport, one: FoundImport): FoundImport {
  return {
    ...known,
    isDynamic: known.isDynamic && one.isDynamic,
    places: [...known.places, ...one.places],
    error: known.error ?? one.error,
  }
}

/**
 * The remote imports of a file; none when it does not parse. Deno parses the code, because Deno will
 * run it. It reports only the first occurrence of each specifier, so that occurrence is overwritten
 * and Deno parses again, until none is left.
 */
async function findImportsOf(
  setup: DenoSetup,
  { path, code }: SourceFile,
  index: number,
  rules: ImportRules,
  placesMax: number,
): Promise<FoundImport[]> {
  const toMeaning = (specifier: string) => rules.toMeaning(specifier, path)
  const found = new Map<string, FoundImport>()
  const shift = code.startsWith("\uFEFF") ? 1 : 0
  let text = code.slice(shift)
  for (let round = 0; ; round++) {
    const dependencies = await readDependencies(setup, toModuleType(path), text)
    // The code parsed before, so the end of an attribute clause was wrong.
    if (!dependencies)
      return [...found.values()].map((one) => (one.type ? { ...one, error: unreadable } : one))
    const remote = dependencies.filter(
      ({ code: place, specifier }) =>
        place && !placeholderPattern.test(specifier) && rules.isRemote(toMeaning(specifier)),
    )
    if (remote.length === 0) return [...found.values()]
    const read = text
    for (const one of remote)
      text = note(found, read, text, { ...one, specifier: toMeaning(one.specifier) }, shift, index)
    if (round < placesMax) continue
    const rest = new Set(
      remote.map((one) => toKey({ ...one, specifier: toMeaning(one.specifier) })),
    )
    return [...found].map(([key, one]) =>
      rest.has(key) ? { ...one, error: `the code imports it more than ${placesMax} times` } : one,
    )
  }
}

const unreadable = "the attributes after its specifier cannot be parsed"

async function readDependencies(
  setup: DenoSetup,
  type: ModuleType,
  text: string,
): Promise<readonly InfoDependency[] | undefined> {
  const path = `${setup.cwd}/code.${type}`
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
  file: number,
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
    places: [
      ...(known?.places ?? []),
      { file, start: start + shift, end: (end ?? span.end) + shift },
    ],
    error: end === undefined ? unreadable : (known?.error ?? null),
  })
  return (
    text.slice(0, start) +
    toPlaceholder(text.slice(start, span.end)) +
    " ".repeat((end ?? span.end) - span.end) +
    text.slice(end ?? span.end)
  )
}

function toKey({
  specifier,
  assertionType,
}: {
  readonly specifier: string
  readonly assertionType?: string | undefined
}): string {
  return JSON.stringify([specifier, assertionType])
}

/** Deno appends the ending to the source of JSX. */
const placeholderPattern = /^\uE000+(?:\/jsx-runtime)?$/

/**
 * A name of the same length, with or without quotes: a literal may have one character. A character
 * for private use is neither a package nor a path, and no configuration has it.
 */
function toPlaceholder(literal: string): string {
  const quote = /^["'`]/.exec(literal)?.[0] ?? ""
  return `${quote}${"\uE000".repeat(literal.length - 2 * quote.length)}${quote}`
}

function toOffsets(text: string, { start, end }: InfoSpan): Omit<ImportPlace, "file"> | undefined {
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
