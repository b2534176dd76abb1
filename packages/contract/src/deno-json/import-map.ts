import { isRecord } from "../is-record.ts"
/** The import map of a version, with the parts that are wrong left out. It is data: tools get it. */
export interface ImportMap {
  /** Longest keys first. */
  readonly imports: readonly Mapping[]
  /** Most specific first. */
  readonly scopes: readonly { readonly scope: string; readonly imports: readonly Mapping[] }[]
}

/** A key and its target; null blocks the specifiers that match. A key that ends in `/` is a prefix. */
export type Mapping = readonly [key: string, target: string | null]

/** The root of a val in keys and targets. Nothing relative to it is outside of the val. */
const root = "val:///"

/** The path in the val that a target means; undefined for other targets. */
export function toOwnPath(target: string): string | undefined {
  if (!target.startsWith(root)) return undefined
  const [path = ""] = target.slice(root.length).split(/[?#]/)
  return path
}

/**
 * The target of a specifier in the file at a path, by the rules of the standard: scopes before the
 * other mappings, then a mapping of the whole specifier, then the longest prefix. Undefined if the
 * map says nothing about it.
 */
export function resolveMapped(
  { imports, scopes }: ImportMap,
  specifier: string,
  path: string,
): string | undefined {
  const from = `${root}${path}`
  const url = toUrl(specifier, from)
  const name = url ?? specifier
  // A prefix of `npm:` and the like would cut a name.
  const hasPrefixes = url === undefined || hierarchical.test(url)
  for (const { scope, imports: scoped } of scopes) {
    if (scope !== from && !(scope.endsWith("/") && from.startsWith(scope))) continue
    const found = findTarget(scoped, name, hasPrefixes)
    if (found !== undefined) return found ?? undefined
  }
  return findTarget(imports, name, hasPrefixes) ?? undefined
}

/** The targets of all mappings, each once. */
export function listTargets({ imports, scopes }: ImportMap): readonly string[] {
  const all = [imports, ...scopes.map((scope) => scope.imports)].flat()
  return [...new Set(all.flatMap(([, target]) => target ?? []))]
}

/** Whether a specifier may mean different things in different files. */
export function dependsOnPath({ imports, scopes }: ImportMap): boolean {
  return scopes.length > 0 || imports.some(([key]) => key.startsWith(root))
}

const hierarchical = /^(?:https?|val):/

function findTarget(
  imports: readonly Mapping[],
  name: string,
  hasPrefixes: boolean,
): string | null | undefined {
  for (const [key, target] of imports) {
    if (key === name) return target
    if (!hasPrefixes || !key.endsWith("/") || !name.startsWith(key)) continue
    return target === null ? null : join(target, name.slice(key.length))
  }
  return undefined
}

/** Null for what is not below the target of the prefix. */
function join(target: string, rest: string): string | null {
  if (!hierarchical.test(target)) return `${target}${rest}`
  const url = URL.parse(rest, target)?.href
  return url?.startsWith(target) ? url : null
}

const relative = /^\.{0,2}\//
const absolute = /^\s*[a-z][a-z0-9+.-]*:/i

function toUrl(specifier: string, from: string): string | undefined {
  if (relative.test(specifier)) return URL.parse(specifier, from)?.href
  return absolute.test(specifier) ? URL.parse(specifier)?.href : undefined
}

const limits = {
  /** In all scopes. Each specifier is compared with each of them. */
  mappingsMax: 200,
  scopesMax: 50,
  keyCharsMax: 200,
  targetCharsMax: 1_000,
}

/** The import map in a deno.json that was parsed, and what is wrong with it. */
export function readImportMap({ imports, scopes }: Readonly<Record<string, unknown>>): {
  readonly map: ImportMap
  readonly warnings: readonly string[]
} {
  const warnings: string[] = []
  let left = limits.mappingsMax
  const readMappings = (name: string, value: unknown): readonly Mapping[] => {
    const mappings = new Map<string, string | null>()
    for (const [key, target] of listEntries(name, value, warnings)) {
      if (left <= 0) {
        warnings.push(`only the first ${limits.mappingsMax} mappings count`)
        break
      }
      left -= 1
      const problem = findProblem(key, target)
      if (problem !== undefined) warnings.push(`${name}: ${quote(key)} ${problem}`)
      const normal = toUrl(key, root) ?? key
      if (key !== "" && normal.length <= limits.keyCharsMax)
        mappings.set(normal, problem === undefined ? toTarget(String(target)) : null)
    }
    addSubpaths(mappings)
    return [...mappings].sort(byLength)
  }
  const map = {
    imports: readMappings("imports", imports),
    scopes: listEntries("scopes", scopes, warnings)
      .slice(0, limits.scopesMax)
      .flatMap(([key, value]) => {
        const scope = key.length <= limits.keyCharsMax ? URL.parse(key, root)?.href : undefined
        if (scope !== undefined) return [{ scope, imports: readMappings("scopes", value) }]
        warnings.push(`scopes: ${quote(key)} is no address`)
        return []
      })
      .sort((left, right) => (left.scope < right.scope ? 1 : -1)),
  }
  return { map, warnings }
}

/** Values that are not objects have none. A key like `__proto__` is one like others. */
export function listEntries(
  name: string,
  value: unknown,
  warnings: string[],
): readonly (readonly [string, unknown])[] {
  if (value === undefined) return []
  if (isRecord(value)) return Object.entries(value)
  warnings.push(`${name} is ignored: it is not an object`)
  return []
}

function findProblem(key: string, target: unknown): string | undefined {
  if (key === "") return "is ignored: it is empty"
  if (key.length > limits.keyCharsMax) return `is longer than ${limits.keyCharsMax} characters`
  if (typeof target !== "string") return "is ignored: its target is not text"
  if (target.length > limits.targetCharsMax)
    return `is ignored: its target is longer than ${limits.targetCharsMax} characters`
  if (target.startsWith("/")) return `is ignored: ${quote(target)} is not a path in the val`
  if (toUrl(target, root) === undefined)
    return `is ignored: ${quote(target)} is neither an address nor a relative path`
  if (key.endsWith("/") && !target.endsWith("/"))
    return `is ignored: its target must end in "/", as it does`
  return undefined
}

/** `npm:/zod@4/` is a way to write a prefix of a package. */
function toTarget(target: string): string {
  const found = relative.test(target) ? URL.parse(target, root)?.href : target.trim()
  return (found ?? target).replace(/^(npm|jsr):\/+/i, "$1:")
}

/** A mapping of a package is one of what is in it too, as in Deno. */
function addSubpaths(mappings: Map<string, string | null>): void {
  for (const [key, target] of [...mappings])
    if (target !== null && !key.endsWith("/") && /^(?:npm|jsr):/i.test(target))
      if (!mappings.has(`${key}/`)) mappings.set(`${key}/`, `${target}/`)
}

function byLength([left]: Mapping, [right]: Mapping): number {
  return right.length - left.length
}

/** A key in a warning. */
function quote(text: string): string {
  return `"${text.length > 60 ? `${text.slice(0, 60)}…` : text}"`
}
