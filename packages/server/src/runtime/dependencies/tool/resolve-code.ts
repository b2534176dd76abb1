import { join } from "node:path"
import { isRemoteImport } from "../../../domain/modules/remote-imports.ts"
import { type Bundled, bundlePackages } from "./bundle-packages.ts"
import type { DenoGraph } from "./deno-graph.ts"
import type { DenoSetup } from "./deno-info.ts"
import { fetchGraph } from "./fetch-graph.ts"
import { type FoundImport, findImports } from "./find-imports.ts"
import { listExports } from "./list-exports.ts"
import { RemoteModules } from "./remote-modules.ts"
import type {
  ImportFailure,
  ResolveRequest,
  ResolveResponse,
  ToolImport,
  ToolResolveLimits,
} from "./tool-messages.ts"

interface Resolved {
  readonly response: ResolveResponse
  readonly bundle: Uint8Array
}

/** Finds the imports of the code, passes them to `onFound`, fetches and bundles them. */
export async function resolveCode(
  setup: DenoSetup,
  { code, baseUrls, jsrUrl, limits }: ResolveRequest,
  onFound: (found: readonly FoundImport[]) => void,
): Promise<Resolved> {
  const found = await findImports(
    setup,
    code,
    (specifier) => isRemoteImport(specifier, { baseUrls }),
    limits.placesMax,
  )
  onFound(found)
  const failures = new Map<FoundImport, ImportFailure>(
    found.flatMap((one, index) => refuse(one, index, limits)),
  )
  const wanted = found.filter((one) => !failures.has(one))
  const { graph, fetched, failures: unfetched } = await fetchGraph(setup, wanted)
  const packed =
    graph.packageCount > limits.packagesMax
      ? tooManyPackages(fetched, limits)
      : await pack(setup, graph, fetched, limits)
  const all = new Map([...failures, ...unfetched, ...packed.failures])
  const imports = found.map((one): ToolImport => {
    const entry = packed.entries.indexOf(one)
    const { specifier, places } = one
    const failure = all.get(one) ?? null
    const resolved = failure ? null : toResolved(graph, specifier, jsrUrl)
    return { specifier, places, resolved, failure, entry, exports: packed.exports[entry] ?? [] }
  })
  return { response: { imports, hasBundle: packed.entries.length > 0 }, bundle: packed.code }
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
    : `the import type "${type}" is not supported, only "json" is`
}

interface Packed {
  readonly entries: readonly FoundImport[]
  readonly exports: readonly (readonly string[])[]
  readonly code: Uint8Array
  readonly failures: ReadonlyMap<FoundImport, ImportFailure>
}

/** Bundles all imports. When that fails, it tries each alone to find those that fail. */
async function pack(
  setup: DenoSetup,
  graph: DenoGraph,
  wanted: readonly FoundImport[],
  limits: ToolResolveLimits,
): Promise<Packed> {
  const modules = new RemoteModules(graph, join(setup.cwd, "remote"))
  const bundle = (some: readonly FoundImport[]) =>
    bundlePackages(
      modules,
      some.map(({ specifier, isDynamic }) => ({ specifier, isLazy: isDynamic })),
      setup.cwd,
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
    return refuseAll(wanted, excess ?? "the imports cannot be bundled together", failures)
  const specifiers = entries.map(({ specifier }) => specifier)
  const exports = await listExports(modules, specifiers, bundled.inputs, setup.cwd)
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

/** `npm:` and `jsr:` with the exact version; for others the address after all redirects. */
function toResolved(graph: DenoGraph, specifier: string, jsrUrl: string): string {
  const target = graph.follow(specifier)
  if (target.startsWith("npm:")) return target.replace(/^npm:\/?/, "npm:")
  const jsr = /^\s*jsr:\/?(@[^/@]+\/[^/@]+)(?:@[^/]*)?(\/.*)?$/i.exec(specifier)
  const version =
    jsr && target.startsWith(`${jsrUrl}${jsr[1]}/`)
      ? target.slice(jsrUrl.length + (jsr[1]?.length ?? 0) + 1).split("/")[0]
      : undefined
  return jsr && version ? `jsr:${jsr[1]}@${version}${jsr[2] ?? ""}` : target
}
