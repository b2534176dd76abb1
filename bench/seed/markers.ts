import { publicSlot } from "./pattern.ts"
import { rareNeighbours } from "./words.ts"

/** A text that a fixed number of public vals contain, whatever the size of the world. */
interface Marker {
  readonly hits: number
  /** A line of their code. */
  readonly line?: string
  /** The beginning of their names. */
  readonly name?: string
}

const markers: readonly Marker[] = [
  { hits: 100, line: "const zanzibarExpress = true" },
  { hits: 10, line: "quokka.hop(7) => pouch" },
  { hits: 1, line: "// thylacine" },
  { hits: 50, line: `// ${rareNeighbours}` },
  { hits: 20, name: "xylophone" },
  { hits: 10, name: "zq" },
  { hits: 10, line: "@@" },
]

export interface Marked {
  readonly line: string
  readonly name: string | undefined
}

/**
 * The marker of a val, by its number. Marked vals are spread evenly over users and slots.
 */
export function placeMarkers(users: number): ReadonlyMap<number, Marked> {
  const placed = new Map<number, Marked>()
  for (const [index, { hits, line = "", name }] of markers.entries()) {
    for (let hit = 0; hit < hits; hit++) {
      const number = publicSlot(index * 13 + hit) * users + Math.floor(((hit + 0.5) * users) / hits)
      const before = placed.get(number)
      placed.set(number, {
        line: [before?.line, line].filter(Boolean).join("\n"),
        name: name ?? before?.name,
      })
    }
  }
  return placed
}
