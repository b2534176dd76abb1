import { join } from "node:path"
import type { ImportRules } from "../import-rules.ts"
import type { SourceFile } from "../resolved-packages.ts"
import { type Bundled, bundlePackages } from "./bundle/bundle-packages.ts"
import { type CollectedFiles, collectFiles } from "./bundle/collect-files.ts"
import { listExports } from "./bundle/list-exports.ts"
import { removeNativeAddons } from "./bundle/native-addons.ts"
import { RemoteModules } from "./bundle/remote-modules.ts"
import type { DenoGraph } from "./deno-graph.ts"
import type { DenoSetup } from "./deno-info.ts"
import { fetchGraph } from "./fetch-graph.ts"
import { type FoundImport, findImports } from "./find-imports.ts"
import type {
  ImportFailure,
  ResolveRequest,
  ResolveResponse,
  ToolImport,
  ToolResolveLimits,
} from "./tool-messages.ts"
import { fetchTypes } from "./types/fetch-types.ts"

interface Resolved {
  readonly response: ResolveResponse
  /** The code of the bundle, the contents of the files and those of the types. */
  readonly body: Uint8Array
}

/** Finds the imports of the code, passes them to `onFound`, fetches and bundles them. */
export async function resolveCode(
  setup: DenoSetup,
  { files, jsrUrl, limits }: Pick<ResolveRequest<unknown>, "files" | "jsrUrl" | "limits">,
  rules: ImportRules,
  onFound: (found: readonly FoundImport[]) => void,
): Promise<Resolved> {
  const found = await findImports(setup, files, rules, limits.placesMax)
  onFound(found)
  const failures = new Map<FoundImport, ImportFailure>(
    found.flatMap((one, index) => refuse(one, index, rules, limits)),
  )
  const wanted = found.filter((one) => !failures.has(one))
  const { graph, fetched, failures: unfetched } = await fetchGraph(setup, wanted, rules)
  const packed =
    graph.packageCount > limits.packagesMax
      ? tooManyPackages(fetched, limits)
      : await pack(setup, graph, fetched, files, limits)
  const all = new Map([...failures, ...unfetched, ...packed.failures])
  const imports = found.map((one): ToolImport => {
    const entry = packed.entries.indexOf(one)
    const { specifier, places } = one
    const failure = all.get(one) ?? null
    const resolved = failure ? null : toResolved(graph, specifier, jsrUrl)
    return { specifier, places, resolved, failure, entry, exports: packed.exports[entry] ?? [] }
  })
  if (JSON.stringify(imports).length > limits.answerBytesMax) return refuseLarge(imports, limits)
  if (packed.entries.length === 0)
    return { response: { imports, bundle: null }, body: new Uint8Array() }
  const { isAsync, types } = packed
  const bundle = {
    codeBytes: packed.code.length,
    isAsync,
    files: packed.files?.list ?? null,
    leftOut: packed.leftOut.slice(0, limits.leftOutMax),
    types: types?.list ?? null,
  }
  const contents = [...(packed.files?.contents ?? []), ...(types?.contents ?? [])]
  return { response: { imports, bundle }, body: Buffer.concat([packed.code, ...contents]) }
}

function refuse(
  one: FoundImport,
  index: number,
  rules: ImportRules,
  { importsMax }: ToolResolveLimits,
): readonly (readonly [FoundImport, ImportFailure])[] {
  const error =
    one.error ??
    rules.findProblem(one.specifier) ??
    (index >= importsMax ? `there can be at most ${importsMax} of them` : toTypeError(one))
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
  readonly isAsync: boolean
  readonly files: CollectedFiles | undefined
  /** The packages whose files are too large to be stored. */
  readonly leftOut: readonly string[]
  readonly types: CollectedFiles | undefined
  readonly failures: ReadonlyMap<FoundImport, ImportFailure>
}

/** Bundles all imports but those that fail, and collects the types meanwhile. */
async function pack(
  setup: DenoSetup,
  graph: DenoGraph,
  wanted: readonly FoundImport[],
  files: readonly SourceFile[],
  limits: ToolResolveLimits,
): Promise<Packed> {
  if (wanted.length === 0) return { ...nothing, failures: new Map() }
  const fetchingTypes = fetchTypes(
    setup,
    graph,
    wanted.map(({ specifier }) => specifier),
    limits,
  )
  const packed = await packCode(setup, graph, wanted, files, limits)
  return { ...packed, types: await fetchingTypes }
}

async function packCode(
  setup: DenoSetup,
  graph: DenoGraph,
  wanted: readonly FoundImport[],
  files: readonly SourceFile[],
  limits: ToolResolveLimits,
): Promise<Packed> {
  const modules = new RemoteModules(graph, join(setup.cwd, "remote"))
  const addons = removeNativeAddons(setup.cwd)
  const bundle = (some: readonly FoundImport[]) =>
    bundlePackages(
      modules,
      some.map(({ specifier, isDynamic }) => ({ specifier, isLazy: isDynamic })),
      setup.cwd,
      addons,
    )
  const { entries, bundled, failures } = await bundleWorking(bundle, wanted)
  if (entries.length === 0) return { ...nothing, failures }
  const excess = findExcess(bundled, limits)
  if (excess || bundled.kind === "failed")
    return refuseAll(wanted, excess ?? "the imports cannot be bundled together", failures)
  const specifiers = entries.map(({ specifier }) => specifier)
  const exports = await listExports(modules, specifiers, bundled, setup.cwd)
  const isRequiring = files.some(({ code }) => /\bcreateRequire\b/.test(code))
  const required = isRequiring ? bundled.entryPaths : []
  return {
    entries,
    exports: exports.map((names) => names.slice(0, limits.exportsMax)),
    code: bundled.code,
    isAsync: bundled.isAsync,
    ...collectFiles(bundled.located, required, setup.cwd, limits),
    types: undefined,
    failures,
  }
}

/** When bundling all fails, it tries each alone to find those that fail. */
async function bundleWorking(
  bundle: (some: readonly FoundImport[]) => Promise<Bundled>,
  wanted: readonly FoundImport[],
) {
  const failures = new Map<FoundImport, ImportFailure>()
  let entries = wanted
  let bundled = await bundle(entries)
  if (bundled.kind === "failed")
    for (const one of wanted) {
      const alone = wanted.length === 1 ? bundled : await bundle([one])
      noteFailures(failures, [one], alone)
    }
  else noteFailures(failures, entries, bundled)
  if (failures.size > 0) {
    entries = wanted.filter((one) => !failures.has(one))
    if (entries.length > 0) bundled = await bundle(entries)
  }
  return { entries, bundled, failures }
}

function noteFailures(
  failures: Map<FoundImport, ImportFailure>,
  entries: readonly FoundImport[],
  bundled: Bundled,
): void {
  for (const [index, one] of entries.entries()) {
    const failure =
      bundled.kind === "failed"
        ? { message: bundled.message, from: "esbuild" as const, about: null }
        : bundled.failures.get(index)
    if (failure) failures.set(one, failure)
  }
}

const nothing = {
  entries: [],
  exports: [],
  code: new Uint8Array(),
  isAsync: false,
  files: undefined,
  leftOut: [],
  types: undefined,
}

function findExcess(
  bundled: Bundled,
  { bundleBytesMax, modulesMax }: ToolResolveLimits,
): string | undefined {
  if (bundled.kind === "failed") return undefined
  if (bundled.code.length > bundleBytesMax)
    return `all that the code imports is larger than ${bundleBytesMax} bytes`
  return Object.keys(bundled.inputs).length > modulesMax
    ? `all that the code imports has more than ${modulesMax} modules`
    : undefined
}

/** What is stored with a version must not be too large. Most of it is names of exports. */
function refuseLarge(
  imports: readonly ToolImport[],
  { answerBytesMax }: ToolResolveLimits,
): Resolved {
  const error = `the names of all that the code imports take more than ${answerBytesMax} bytes`
  const refused = imports.map((one) => ({
    ...one,
    resolved: null,
    entry: -1,
    exports: [],
    failure: one.failure ?? ours(error),
  }))
  return { response: { imports: refused, bundle: null }, body: new Uint8Array() }
}

function tooManyPackages(
  wanted: readonly FoundImport[],
  { packagesMax }: ToolResolveLimits,
): Packed {
  return refuseAll(
    wanted,
    `all that the code imports needs more than ${packagesMax} packages`,
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
