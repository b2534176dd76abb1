const lastCodePoint = 0x10ffff

/**
 * Whether a text sorts before another one in the databases, which compare UTF-8 bytes. JavaScript
 * compares UTF-16 units, which order surrogate pairs differently.
 */
export function isBefore(text: string, other: string): boolean {
  return Buffer.compare(Buffer.from(text), Buffer.from(other)) < 0
}

/**
 * The first text after all texts that begin with the prefix; undefined where there is none.
 */
export function firstAfterPrefix(prefix: string): string | undefined {
  const points = Array.from(prefix, (letter) => letter.codePointAt(0) ?? 0)
  while (points.at(-1) === lastCodePoint) points.pop()
  const last = points.pop()
  if (last === undefined) return undefined
  // Skips the surrogates, which are not characters.
  return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1)
}
