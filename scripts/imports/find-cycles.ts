/** The imports of each file. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>

/**
 * Finds import cycles. Not all of them, but at least one if there are any, and each file in at most
 * one.
 */
export function findCycles(graph: ImportGraph): string[][] {
  const done = new Set<string>()
  const cycles: string[][] = []
  for (const start of [...graph.keys()].sort()) walk(graph, start, { done, cycles, path: [] })
  return cycles
}

type Walk = { readonly done: Set<string>; readonly cycles: string[][]; readonly path: string[] }

function walk(graph: ImportGraph, file: string, state: Walk): void {
  const seenAt = state.path.indexOf(file)
  if (seenAt !== -1) {
    state.cycles.push([...state.path.slice(seenAt), file])
    return
  }
  if (state.done.has(file)) return
  state.path.push(file)
  for (const next of graph.get(file) ?? []) walk(graph, next, state)
  state.path.pop()
  state.done.add(file)
}
