/** Which files each file imports. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>

/**
 * Finds cycles, each as the walk that comes back to its start. Not all of them: enough that there
 * are none if it returns none, and that each file is named in one at most.
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
