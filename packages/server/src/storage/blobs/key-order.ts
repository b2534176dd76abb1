const lastCodePoint = 0x10ffff

/**
 * Whether a text comes before another in the databases, which compare bytes of UTF-8: JavaScript
 * compares halves of surrogate pairs.
 */
export function isBefore(text: string, other: string): boolean {
  return Buffer.compare(Buffer.from(text), Buffer.from(other)) < 0
}

/**
 * The first text after all that begin with the prefix; undefined where nothing comes after them.
 */
export function firstAfterPrefix(prefix: string): string | undefined {
  const points = Array.from(prefix, (letter) => letter.codePointAt(0) ?? 0)
  while (points.at(-1) === lastCodePoint) points.pop()
  const last = points.pop()
  if (last === undefined) return undefined
  // Surrogates are no characters, and stand where the others leave a gap.
  return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1)
}
