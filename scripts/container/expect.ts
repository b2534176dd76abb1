/** Fails unless both are equal. */
export function expectEqual<T>(what: string, found: T, expected: T): void {
  if (found !== expected) throw new Error(`${what}: expected ${expected}, found ${found}`)
}

/** Fails unless the text has the part. */
export function expectIncludes(what: string, text: string, part: string): void {
  if (!text.includes(part)) throw new Error(`${what}: expected "${part}" in\n${text}`)
}
