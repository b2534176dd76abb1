import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { DenoGraph } from "./deno-graph.ts"
import { fetchInfo, findFetchError } from "./deno-info.ts"
import type { DenoSetup } from "./run-deno.ts"
import type { ImportFailure } from "./tool-messages.ts"

/** Something to fetch. */
export interface Wanted {
  readonly specifier: string
  readonly type: string | undefined
}

/** What could be fetched, and why the rest could not. */
export interface Fetched<Import extends Wanted> {
  readonly graph: DenoGraph
  readonly good: readonly Import[]
  readonly failures: ReadonlyMap<Import, ImportFailure>
}

/**
 * Fetches what is wanted. One npm package that cannot be had keeps Deno from resolving all others,
 * so what fails is left out and the rest fetched again; that is fast, since what is there already
 * is not fetched twice.
 */
export async function fetchGraph<Import extends Wanted>(
  place: DenoSetup,
  wanted: readonly Import[],
): Promise<Fetched<Import>> {
  const failures = new Map<Import, ImportFailure>()
  const complete = new Set<Import>()
  let left = wanted
  for (;;) {
    const graph = await readGraph(place, left)
    const found = await findFailures(place, graph, left, complete)
    if (found.size === 0) return { graph, good: left, failures }
    for (const [one, failure] of found) failures.set(one, failure)
    left = left.filter((one) => !found.has(one))
  }
}

async function readGraph(place: DenoSetup, wanted: readonly Wanted[]): Promise<DenoGraph> {
  if (wanted.length === 0) return new DenoGraph({ modules: [], redirects: {}, npmPackages: {} }, "")
  const main = writeMain(place, wanted)
  return new DenoGraph(await fetchInfo(place, main), pathToFileURL(main).href)
}

/**
 * Those that are broken; if there are none, those of the others that are. `complete` are those
 * known to be all right without the rest.
 */
async function findFailures<Import extends Wanted>(
  place: DenoSetup,
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
  for (const { one, failure } of judged) {
    const message = await findFetchError(place, writeMain(place, [one]))
    if (message !== undefined) failures.set(one, { message, from: "deno", about: null })
    else if (failure.kind === "incomplete") complete.add(one)
  }
  // Each can be had alone, but not all of them together.
  const unresolved = judged.filter(({ failure }) => failure.kind === "unresolved")
  return failures.size > 0
    ? failures
    : new Map<Import, ImportFailure>(unresolved.map(({ one, failure }) => [one, failure]))
}

function writeMain(place: DenoSetup, wanted: readonly Wanted[]): string {
  const path = join(place.cwd, "main.ts")
  const lines = wanted.map(
    ({ specifier, type }) =>
      `import ${JSON.stringify(specifier)}${type === undefined ? "" : ` with { type: ${JSON.stringify(type)} }`};`,
  )
  writeFileSync(path, lines.join("\n"))
  return path
}
