import { join } from "node:path"
import { isRemoteImport } from "../../../domain/modules/remote-imports.ts"
import { type Bundled, bundlePackages } from "./bundle-packages.ts"
import type { DenoGraph } from "./deno-graph.ts"
import { fetchGraph } from "./fetch-graph.ts"
import { type FoundImport, findImports } from "./find-imports.ts"
import { listExports } from "./list-exports.ts"
import { RemoteModules } from "./remote-modules.ts"
import type { DenoSetup } from "./run-deno.ts"
import { toResolved } from "./to-resolved.ts"
import type {
  ImportFailure,
  ResolveRequest,
  ResolveResponse,
  ToolImport,
  ToolResolveLimits,
} from "./tool-messages.ts"

interface Resolved {
  readonly answer: ResolveResponse
  readonly bundle: Uint8Array
}

/**
 * Resolves the imports of the code: finds them, of which it tells at once, fetches them, makes one
 * script of them.
 */
export async function resolveCode(
  place: DenoSetup,
  { code, baseUrls, jsrUrl, limits }: ResolveRequest,
  tell: (found: readonly FoundImport[]) => void,
): Promise<Resolved> {
  const found = await findImports(
    place,
    code,
    (specifier) => isRemoteImport(specifier, { baseUrls }),
    limits.placesMax,
  )
  tell(found)
  const failures = new Map<FoundImport, ImportFailure>(
    found.flatMap((one, index) => refuse(one, index, limits)),
  )
  const wanted = found.filter((one) => !failures.has(one))
  const { graph, good, failures: unfetched } = await fetchGraph(place, wanted)
  const packed =
    graph.packageCount > limits.packagesMax
      ? tooManyPackages(good, limits)
      : await pack(place, graph, good, limits)
  const all = new Map([...failures, ...unfetched, ...packed.failures])
  const imports = found.map((one): ToolImport => {
    const entry = packed.entries.indexOf(one)
    const { specifier, places } = one
    const failure = all.get(one) ?? null
    const resolved = failure ? null : toResolved(graph, specifier, jsrUrl)
    return { specifier, places, resolved, failure, entry, exports: packed.exports[entry] ?? [] }
  })
  return { answer: { imports, hasBundle: packed.entries.length > 0 }, bundle: packed.code }
}

function refuse(
  one: FoundImport,
  index: number,
  { importsMax }: ToolResolveLimits,
): readonly (readonly [FoundImport, ImportFailure])[] {
  const error =
    one.error ??
    (index >= importsMax ? `a val can have at most ${importsMax} of them` : toTypeError(one))
  return error === undefined ? [] : [[one, ours(error)]]
}

function toTypeError({ type }: FoundImport): string | undefined {
  return type === undefined || type === "json"
    ? undefined
    : `"${type}" is no type that can be imported, only "json" is`
}

interface Packed {
  readonly entries: readonly FoundImport[]
  readonly exports: readonly (readonly string[])[]
  readonly code: Uint8Array
  readonly failures: ReadonlyMap<FoundImport, ImportFailure>
}

/** If they cannot be bundled together, each is tried by itself to see which ones are to blame. */
async function pack(
  place: DenoSetup,
  graph: DenoGraph,
  wanted: readonly FoundImport[],
  limits: ToolResolveLimits,
): Promise<Packed> {
  const modules = new RemoteModules(graph, join(place.cwd, "remote"))
  const bundle = (some: readonly FoundImport[]) =>
    bundlePackages(
      modules,
      some.map(({ specifier, isDynamic }) => ({ specifier, isLazy: isDynamic })),
      place.cwd,
    )
  if (wanted.length === 0) return { ...nothing, failures: new Map() }
  let entries = wanted
  let bundled = await bundle(entries)
  const failures = new Map<FoundImport, ImportFailure>()
  if (bundled.kind === "failed") {
    for (const one of wanted) {
      const alone = wanted.length === 1 ? bundled : await bundle([one])
      if (alone.kind === "failed")
        failures.set(one, { message: alone.message, from: "esbuild", about: null })
    }
    entries = wanted.filter((one) => !failures.has(one))
    if (entries.length === 0) return { ...nothing, failures }
    bundled = await bundle(entries)
  }
  const excess = findExcess(bundled, limits)
  if (excess || bundled.kind === "failed")
    return refuseAll(wanted, excess ?? "they do not go together", failures)
  const specifiers = entries.map(({ specifier }) => specifier)
  const exports = await listExports(modules, specifiers, bundled.inputs, place.cwd)
  return {
    entries,
    exports: exports.map((names) => names.slice(0, limits.exportsMax)),
    code: bundled.code,
    failures,
  }
}

const nothing = { entries: [], exports: [], code: new Uint8Array() }

function findExcess(
  bundled: Bundled,
  { bundleBytesMax, modulesMax }: ToolResolveLimits,
): string | undefined {
  if (bundled.kind === "failed") return undefined
  if (bundled.code.length > bundleBytesMax)
    return `all that the val imports is larger than ${bundleBytesMax} bytes`
  return Object.keys(bundled.inputs).length > modulesMax
    ? `all that the val imports has more than ${modulesMax} modules`
    : undefined
}

function tooManyPackages(
  wanted: readonly FoundImport[],
  { packagesMax }: ToolResolveLimits,
): Packed {
  return refuseAll(
    wanted,
    `all that the val imports needs more than ${packagesMax} packages`,
    new Map(),
  )
}

function refuseAll(
  wanted: readonly FoundImport[],
  error: string,
  known: ReadonlyMap<FoundImport, ImportFailure>,
): Packed {
  return {
    ...nothing,
    failures: new Map(wanted.map((one) => [one, known.get(one) ?? ours(error)])),
  }
}

function ours(message: string): ImportFailure {
  return { message, from: "us", about: null }
}
