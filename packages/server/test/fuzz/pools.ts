/** How many things of a kind are remembered. */
export const poolSize = 64

/** Something that exists: what a request may need to know of it. */
export type PoolEntry = Readonly<Record<string, string>>

/**
 * What exists, by its kind. A request names it by marks, `~val.7.id~`, so that the same seed makes
 * the same request on another server.
 */
export interface Pools {
  /** Never forgotten. */
  keep(kind: string, thing: PoolEntry): void
  /** Remembered until there are too many newer ones. */
  add(kind: string, thing: PoolEntry): void
  forget(kind: string, id: string): void
  /**
   * The text with what its marks stand for; `focus` is the number that the star in a mark means.
   */
  resolve(text: string, focus: number): string
}

/** Empty pools. */
export function createPools(): Pools {
  const kept = new Map<string, PoolEntry[]>()
  const recent = new Map<string, PoolEntry[]>()
  const listOf = (pools: Map<string, PoolEntry[]>, kind: string) => {
    const list = pools.get(kind) ?? []
    pools.set(kind, list)
    return list
  }
  return {
    keep: (kind, thing) => void listOf(kept, kind).push(thing),
    add(kind, thing) {
      const list = listOf(recent, kind)
      list.push(thing)
      if (list.length > poolSize / 2) list.shift()
    },
    forget: (kind, id) =>
      void recent.set(
        kind,
        listOf(recent, kind).filter((thing) => thing.id !== id),
      ),
    resolve: (text, focus) =>
      text.replaceAll(
        /~(\w+)\.(\d+|\*)\.(\w+)~/g,
        (found, kind: string, index: string, field: string) => {
          const all = [...listOf(recent, kind), ...listOf(kept, kind)]
          return all[(index === "*" ? focus : Number(index)) % all.length]?.[field] ?? found
        },
      ),
  }
}
