import type { LockedImport, Resolution } from "./lockfiles.ts"

/** A module of a program whose lock has been settled. */
export interface LockedModule {
  readonly url: string
  readonly code: string
  readonly valId: string
  readonly version: number
  readonly resolution: Resolution
}

interface Module {
  readonly url: string
  readonly code: string
}

/** The modules, and those that stand between them and their packages. */
export interface LinkedModules {
  readonly modules: readonly Module[]
  readonly stubs: readonly Module[]
}

/**
 * Makes modules import what their lockfiles name instead of what their code says: each specifier
 * becomes the address of a stub, a module of a few lines that asks the guest for the package.
 * Nothing of the code gets to another line. `missing` says by their hashes which bundles are not at
 * hand, and why.
 */
export function linkPackages(
  baseUrl: string,
  modules: readonly LockedModule[],
  missing: ReadonlyMap<string, string>,
): LinkedModules {
  const stubs = new Map<string, Stub>()
  const linked = modules.map((locked) => {
    const module = { ...locked, lines: findLines(locked.code) }
    const edits = module.resolution.imports.flatMap((one, index) => {
      const url = toStubUrl(baseUrl, module, one, index)
      addStub(stubs, url, toStub(module, one, missing))
      return one.places.flatMap((place) => toEdit(module.code, place, url))
    })
    return { url: module.url, code: splice(module.code, edits) }
  })
  return {
    modules: linked,
    stubs: [...stubs].map(([url, { names, write }]) => ({ url, code: write([...names]) })),
  }
}

interface LinkingModule extends LockedModule {
  /** Where its lines begin. */
  readonly lines: readonly number[]
}

const specifierCharsMax = 300

/**
 * It ends with the specifier, so that errors can name it; and so that it stays what it is when a
 * runtime adds to it for JSX.
 */
function toStubUrl(
  baseUrl: string,
  module: LinkingModule,
  one: LockedImport,
  index: number,
): string {
  const { bundle } = module.resolution
  const isThere = one.error === null && bundle !== null
  const place = isThere
    ? `${bundle}/${one.entry}`
    : `none/${module.valId}-${module.version}-${index}/${toPlace(module, one)}`
  return `${baseUrl}/packages/${place}/${toPath(one.specifier)}`
}

/**
 * Where the import stands, for the guest: in the stack of the error it takes the place of the stub.
 */
function toPlace({ url, lines }: LinkingModule, { places }: LockedImport): string {
  const [, user, val] = /\/v\/@?(\w+)\/(\w+)/.exec(url) ?? []
  return `${user}/${val}:${toPosition(lines, places[0]?.start ?? 0)}`
}

/** Readable, but never anything that an address is shortened by. */
function toPath(specifier: string): string {
  if (specifier.length > specifierCharsMax || !specifier.isWellFormed()) return "package"
  const encoded = encodeURIComponent(specifier).replaceAll("%3A", ":").replaceAll("%40", "@")
  return /(?:^|\/)\.{1,2}(?:\/|$)/.test(specifier) ? encoded : encoded.replaceAll("%2F", "/")
}

interface Stub {
  readonly names: Set<string>
  readonly write: (names: readonly string[]) => string
}

function toStub(
  module: LinkingModule,
  one: LockedImport,
  missing: ReadonlyMap<string, string>,
): Stub {
  const { bundle } = module.resolution
  const exported = one.exports.filter((name) => name.isWellFormed())
  const reason = one.error ?? (bundle === null ? "it was not found" : missing.get(bundle))
  if (reason === undefined && bundle !== null)
    return { names: new Set(exported), write: (names) => writeStub(bundle, one, names) }
  // Before anything is evaluated, a runtime looks whether there is everything that is imported.
  const names = new Set([
    ...exported,
    "default",
    ...one.places.flatMap(({ start }) => listImported(module.code, start)),
  ])
  return { names, write: (all) => writeFailure(one.specifier, reason ?? "", all) }
}

/**
 * Modules with the same bundle share its stubs; should they have been read differently, what either
 * has found is there.
 */
function addStub(stubs: Map<string, Stub>, url: string, stub: Stub): void {
  const known = stubs.get(url)
  if (!known) stubs.set(url, stub)
  else for (const name of stub.names) known.names.add(name)
}

/** The symbol is `packagesSymbol` of the guest's protocol. A Worker has no such thing. */
function writeStub(
  hash: string,
  { specifier, entry }: LockedImport,
  names: readonly string[],
): string {
  return `const get = globalThis[Symbol.for("hamlet.packages")]
if (!get) throw new TypeError(${JSON.stringify(toMessage(specifier, "a Worker has no packages"))})
const it = get(${JSON.stringify(hash)}, ${entry})
${names.map((name, index) => `const e${index} = it[${JSON.stringify(name)}]`).join("\n")}
${writeExports(names)}`
}

function writeFailure(specifier: string, reason: string, names: readonly string[]): string {
  return `throw new TypeError(${JSON.stringify(toMessage(specifier, reason))})
${names.map((_, index) => `var e${index}`).join("\n")}
${writeExports(names)}`
}

/** Any string can be the name of an export, also one that is no identifier. */
function writeExports(names: readonly string[]): string {
  return `export { ${names.map((name, index) => `e${index} as ${JSON.stringify(name)}`).join(", ")} }`
}

function toMessage(specifier: string, reason: string): string {
  return `Cannot import "${specifier}": ${reason}`
}

const namePattern = /[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*|"[^"\\\n]*"|'[^'\\\n]*'/gu
/** Nobody names more in one import. */
const clauseCharsMax = 20_000
const spaceCharsMax = 100

/**
 * The words in the braces before a specifier. Some of them are none of its exports, which does no
 * harm.
 */
function listImported(code: string, at: number): readonly string[] {
  if (!/\}\s*from\s*$/.test(code.slice(Math.max(0, at - spaceCharsMax), at))) return []
  const from = code.lastIndexOf("{", at)
  const clause = from === -1 || at - from > clauseCharsMax ? "" : code.slice(from, at)
  return [...clause.matchAll(namePattern)]
    .map(([word]) => word.replace(/^["']|["']$/g, ""))
    .filter((word) => word.isWellFormed())
}

interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

const jsxEnding = "/jsx-runtime"

function toEdit(
  code: string,
  { start, end }: Pick<Edit, "start" | "end">,
  url: string,
): readonly Edit[] {
  if (/["'`]/.test(code.charAt(start))) return [{ start, end, text: JSON.stringify(url) }]
  // The source of JSX, to which the runtime itself adds the ending.
  return url.endsWith(jsxEnding) ? [{ start, end, text: url.slice(0, -jsxEnding.length) }] : []
}

const lineEnd = /\r\n|[\n\r\u2028\u2029]/g

function findLines(code: string): readonly number[] {
  return [0, ...Array.from(code.matchAll(lineEnd), ({ index, 0: end }) => index + end.length)]
}

/** `{line}:{column}`, both counted from 1. */
function toPosition(lines: readonly number[], at: number): string {
  let [low, high] = [0, lines.length]
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if ((lines[middle] ?? 0) <= at) low = middle
    else high = middle
  }
  return `${low + 1}:${at - (lines[low] ?? 0) + 1}`
}

/** What lies outside of the code, or within another one, is left. */
function splice(code: string, edits: readonly Edit[]): string {
  const parts: string[] = []
  let from = 0
  for (const { start, end, text } of edits.toSorted((left, right) => left.start - right.start)) {
    if (start < from || end > code.length || start >= end) continue
    // A string may go on after a backslash at the end of a line, and what was written after the
    // specifier may be on lines of its own.
    const lines = "\n".repeat(code.slice(start, end).split(lineEnd).length - 1)
    parts.push(code.slice(from, start), text, lines)
    from = end
  }
  return [...parts, code.slice(from)].join("")
}
