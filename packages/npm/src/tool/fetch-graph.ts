import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { writeModule } from "@hamlet/sandbox"
import type { ImportRules } from "../import-rules.ts"
import { DenoGraph } from "./deno-graph.ts"
import { type DenoInfo, type DenoSetup, fetchInfo, findFetchError } from "./deno-info.ts"
import type { ImportFailure } from "./tool-messages.ts"

/** Something to fetch. */
export interface Wanted {
  readonly specifier: string
  readonly type: string | undefined
}

/** What was fetched, and why the rest was not. */
export interface Fetched<Import extends Wanted> {
  readonly graph: DenoGraph
  readonly fetched: readonly Import[]
  readonly failures: ReadonlyMap<Import, ImportFailure>
}

/**
 * Fetches the imports. One npm package that fails keeps Deno from resolving all others, so failed
 * imports are left out and the rest is fetched again. That is fast, because nothing is downloaded
 * twice.
 */
export async function fetchGraph<Import extends Wanted>(
  setup: DenoSetup,
  wanted: readonly Import[],
  rules: ImportRules,
): Promise<Fetched<Import>> {
  const failures = new Map<Import, ImportFailure>()
  const complete = new Set<Import>()
  let left = wanted
  for (;;) {
    const graph = await readGraph(setup, left, rules)
    const found = await findFailures(setup, graph, left, complete)
    if (found.size === 0) return { graph, fetched: left, failures }
    for (const [one, failure] of found) failures.set(one, failure)
    left = left.filter((one) => !found.has(one))
  }
}

async function readGraph(
  setup: DenoSetup,
  wanted: readonly Wanted[],
  rules: ImportRules,
): Promise<DenoGraph> {
  if (wanted.length === 0) return new DenoGraph({ modules: [], redirects: {}, npmPackages: {} }, "")
  const main = writeMain(setup.cwd, wanted)
  const replaced = new Set<string>()
  for (;;) {
    const info = await fetchInfo(setup, main)
    if (!replaceModules(setup, info, rules, replaced))
      return new DenoGraph(info, pathToFileURL(main).href)
  }
}

/**
 * Puts replacements of modules into Deno's cache, where remote modules find them. Returns whether there
 * are any, so that the graph has to be read again.
 */
function replaceModules(
  { env }: DenoSetup,
  { modules }: DenoInfo,
  rules: ImportRules,
  replaced: Set<string>,
): boolean {
  const found = modules.flatMap(({ specifier }) => {
    const url = replaced.has(specifier) ? null : URL.parse(specifier)
    const code = url ? rules.findReplacement(url) : undefined
    return code === undefined ? [] : [{ url: specifier, code }]
  })
  for (const { url } of found) replaced.add(url)
  for (const module of found) writeModule(env.DENO_DIR ?? "", module)
  return found.length > 0
}

/**
 * The broken imports; if there are none, those that Deno cannot fetch alone. `complete` collects
 * those that can be fetched alone although a package seems to be missing.
 */
async function findFailures<Import extends Wanted>(
  setup: DenoSetup,
  graph: DenoGraph,
  wanted: readonly Import[],
  complete: Set<Import>,
) {
  const judged = wanted.flatMap((one) => {
    const failure = graph.findFailure(one.specifier)
    return failure && !(failure.kind === "incomplete" && complete.has(one))
      ? [{ one, failure }]
      : []
  })
  const broken = judged.filter(({ failure }) => failure.kind === "broken")
  const failures = new Map<Import, ImportFailure>(broken.map(({ one, failure }) => [one, failure]))
  if (broken.length > 0) return failures
  const alone = join(setup.cwd, "alone")
  for (const { one, failure } of judged) {
    // In a folder of its own: Deno removes the packages that its main file does not import.
    mkdirSync(alone)
    const message = await findFetchError({ ...setup, cwd: alone }, writeMain(alone, [one]))
    rmSync(alone, { recursive: true })
    if (message !== undefined) failures.set(one, { message, from: "deno", about: null })
    else if (failure.kind === "incomplete") complete.add(one)
  }
  // Each can be fetched alone, but not all together.
  const unresolved = judged.filter(({ failure }) => failure.kind === "unresolved")
  return failures.size > 0
    ? failures
    : new Map<Import, ImportFailure>(unresolved.map(({ one, failure }) => [one, failure]))
}

/** Writes a module with these imports into a folder. Returns its path. */
export function writeMain(folder: string, wanted: readonly Wanted[]): string {
  const path = join(folder, "main.ts")
  const lines = wanted.map(
    ({ specifier, type }) =>
      `import ${JSON.stringify(specifier)}${type === undefined ? "" : ` with { type: ${JSON.stringify(type)} }`};`,
  )
  writeFileSync(path, lines.join("\n"))
  return path
}
