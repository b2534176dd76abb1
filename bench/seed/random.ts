/**
 * A 32-bit number that looks random but depends on the arguments only, so that seeded data can be
 * computed again.
 */
export function scramble(kind: number, index: number): number {
  let bits = (Math.imul(kind + 1, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b)) >>> 0
  bits = Math.imul(bits ^ (bits >>> 16), 0x21f0aaad)
  bits = Math.imul(bits ^ (bits >>> 15), 0x735a2d97)
  return (bits ^ (bits >>> 15)) >>> 0
}

/** An id like those of the server: the time, then pseudo-random bits. */
export function makeId(kind: number, index: number, at: number): string {
  const time = at.toString(16).padStart(12, "0")
  const [a, b, c] = [
    scramble(kind, 3 * index),
    scramble(kind, 3 * index + 1),
    scramble(kind, 3 * index + 2),
  ]
  const variant = (8 + (a & 3)).toString(16)
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hex(a >>> 20, 3)}-${variant}${hex((a >>> 4) & 0xfff, 3)}-${hex(b, 8)}${hex(c >>> 16, 4)}`
}

/** The items in pseudo-random order. */
export function shuffle<T>(kind: number, items: readonly T[]): readonly T[] {
  return items
    .map((item, index) => ({ item, order: scramble(kind, index) }))
    .sort((left, right) => left.order - right.order)
    .map(({ item }) => item)
}

function hex(number: number, digits: number): string {
  return number.toString(16).padStart(digits, "0")
}
