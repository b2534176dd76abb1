import { repeatText, toOwnJson } from "@hamlet/kit"
import type { ProgramModule } from "@hamlet/sandbox"
import { isRelative } from "./import-address.ts"
import type { ConfigEdit } from "./imports/config-edits.ts"
import { toTextKey } from "./imports/config-keys.ts"
import type { VersionConfig } from "./imports/version-configs.ts"
import type { ImportPlace, LockedImport, Resolution } from "./lockfiles.ts"
import { entryPath } from "./module-url.ts"

/** A module of a program whose lock has been settled. */
export interface LockedModule {
  readonly url: string
  readonly code: string
  readonly branchId: string
  readonly version: number
  readonly path: string
  readonly resolution: Resolution
  readonly config: VersionConfig | null
  /** What its configuration changes, except for packages. */
  readonly edits: readonly ConfigEdit[]
}

/** The modules, and the stubs through which they import their packages. */
export interface LinkedModules {
  readonly modules: readonly ProgramModule[]
  readonly stubs: readonly ProgramModule[]
}

/**
 * Replaces each package specifier in the code by the URL of a stub: a short module that gets the
 * package from the guest. Line numbers of the code stay the same. `missing` maps the hashes of
 * missing bundles to the reason.
 */
export function linkPackages(
  baseUrl: string,
  modules: readonly LockedModule[],
  missing: ReadonlyMap<string, string>,
): LinkedModules {
  const stubs = new Map<string, Stub>()
  const linked = modules.map((locked) => {
    const module = { ...locked, lines: findLines(locked.code) }
    const isOwn = createIsOwn(module)
    const edits = module.resolution.imports.flatMap((all, index) => {
      const places = all.places.filter(isOwn)
      // A file of the val may be there now that was missing when its packages were resolved.
      if (places.length < Math.min(1, all.places.length) || isRelative(all.specifier)) return []
      const one = { ...all, places }
      const url = toStubUrl(baseUrl, module, one, index)
      addStub(stubs, url, toStub(module, one, missing))
      return places.flatMap((place) => toEdit(module.code, place, url))
    })
    // Packages come first: of two edits of one place, the first counts.
    return { url: module.url, code: splice(module.code, [...edits, ...module.edits]) }
  })
  return {
    modules: linked,
    stubs: [...stubs].map(([url, { names, write }]) => ({
      url,
      code: write([...names]),
      type: "js" as const,
    })),
  }
}

/** Whether a place of the lockfile is in the module as it is now. */
function createIsOwn({ code, path, config }: LockedModule): (place: ImportPlace) => boolean {
  let hash: string | undefined
  return ({ text, start }) => {
    if (text === undefined)
      return path === entryPath && placeStart.test(code.slice(start - 1, start + 1))
    hash ??= toTextKey(code, path, config ?? undefined)
    return text === hash
  }
}

/** A quote, or what comes before the source of JSX in a comment. */
const placeStart = /["'`]$|^\s/

interface LinkingModule extends LockedModule {
  /** Where its lines begin. */
  readonly lines: readonly number[]
}

const specifierCharsMax = 300

/** Ends with the specifier, so that errors name it and the runtime can append `/jsx-runtime`. */
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
    : `none/${module.branchId}-${module.version}-${index}/${toPlace(module, one)}`
  return `${baseUrl}/packages/${place}/${toPath(one.specifier)}`
}

/** The position of the import. The guest shows it in stack traces instead of the stub. */
function toPlace({ url, lines }: LinkingModule, { places }: LockedImport): string {
  const [, val = "", path = ""] = /\/v\/@?([^/]+\/[^/@]+)@[^/]+\/(.+)$/.exec(url) ?? []
  const file = path === entryPath ? `${val}.tsx` : `${val}/${path}`
  return `${file}:${toPosition(lines, places[0]?.start ?? 0)}`
}

/** Readable, but without `.` or `..` segments, which URL parsing would remove. */
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
  const { resolution } = module
  const { bundle } = resolution
  const exported = one.exports.filter((name) => name.isWellFormed())
  const reason = one.error ?? (bundle === null ? "it was not found" : missing.get(bundle))
  if (reason === undefined && bundle !== null)
    return { names: new Set(exported), write: (names) => writeStub(resolution, one, names) }
  // The runtime checks that all imported names exist before it evaluates anything, so the stub must
  // export them for its own error to be seen.
  const names = new Set([
    ...exported,
    "default",
    ...one.places.flatMap(({ start }) => listImported(module.code, start)),
  ])
  return { names, write: (all) => writeFailure(one.specifier, reason ?? "", all) }
}

/** Modules with the same bundle share its stubs. A stub exports the names of all of them. */
function addStub(stubs: Map<string, Stub>, url: string, stub: Stub): void {
  const known = stubs.get(url)
  if (!known) stubs.set(url, stub)
  else for (const name of stub.names) known.names.add(name)
}

/** The symbol is `packagesSymbol` of the guest's protocol. Workers do not have it. */
function writeStub(
  { bundle, isAsync }: Resolution,
  { specifier, entry }: LockedImport,
  names: readonly string[],
): string {
  return `const get = globalThis[Symbol.for("hamlet.packages")]
if (!get) throw new TypeError(${toOwnJson(toMessage(specifier, "a Worker has no packages"))})
const it = ${isAsync ? "await " : ""}get(${toOwnJson(bundle)}, ${entry})
${names.map((name, index) => `const e${index} = it[${toOwnJson(name)}]`).join("\n")}
${writeExports(names)}`
}

function writeFailure(specifier: string, reason: string, names: readonly string[]): string {
  return `throw new TypeError(${toOwnJson(toMessage(specifier, reason))})
${names.map((_, index) => `var e${index}`).join("\n")}
${writeExports(names)}`
}

/** Export names are quoted, since any string is allowed. */
function writeExports(names: readonly string[]): string {
  return `export { ${names.map((name, index) => `e${index} as ${toOwnJson(name)}`).join(", ")} }`
}

function toMessage(specifier: string, reason: string): string {
  return `Cannot import "${specifier}": ${reason}`
}

const namePattern = /[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*|"[^"\\\n]*"|'[^'\\\n]*'/gu
/** The maximum length of an import clause. */
const clauseCharsMax = 20_000
const spaceCharsMax = 100

/** The words in the braces before a specifier. Words that are not exports do no harm. */
function listImported(code: string, at: number): readonly string[] {
  if (!/\}\s*from\s*$/.test(code.slice(Math.max(0, at - spaceCharsMax), at))) return []
  const from = code.lastIndexOf("{", at)
  const clause = from === -1 || at - from > clauseCharsMax ? "" : code.slice(from, at)
  return [...clause.matchAll(namePattern)]
    .map(([word]) => word.replace(/^["']|["']$/g, ""))
    .filter((word) => word.isWellFormed())
}

const jsxEnding = "/jsx-runtime"

function toEdit(
  code: string,
  { start, end }: Pick<ConfigEdit, "start" | "end">,
  url: string,
): readonly ConfigEdit[] {
  if (start < end && /["'`]/.test(code.charAt(start))) return [{ start, end, text: toOwnJson(url) }]
  // A JSX import source, to which the runtime appends the ending.
  if (!url.endsWith(jsxEnding)) return []
  const source = url.slice(0, -jsxEnding.length)
  return [{ start, end, text: start === end ? `/** @jsxImportSource ${source} */` : source }]
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

/** Applies the edits. Edits that overlap or lie outside of the code are skipped. */
function splice(code: string, edits: readonly ConfigEdit[]): string {
  const parts: string[] = []
  let from = 0
  let isBegun = false
  for (const { start, end, text } of edits.toSorted((left, right) => left.start - right.start)) {
    // Nothing is replaced by the comment before the code.
    if (start < from || end > code.length || start > end || (start === end && isBegun)) continue
    isBegun = true
    // Keeps line numbers: a literal may continue after a backslash at the end of a line, and import
    // attributes may have lines of their own.
    const lines = repeatText("\n", code.slice(start, end).split(lineEnd).length - 1, end - start)
    parts.push(code.slice(from, start), text, lines)
    from = end
  }
  return [...parts, code.slice(from)].join("")
}
