/** Small values, as many as fit: of all JSON it takes longest to read. */
export function smallValues(bytes: number): string {
  return `[${"[],".repeat(Math.floor((bytes - 4) / 3))}1]`
}

/** Escapes that are no UTF-8: what decodes them one by one fails for each. */
export function invalidEscapes(bytes: number): string {
  return "z%FF".repeat(Math.floor(bytes / 4))
}

/** The largest body of a request, by default. */
export const bodyBytesMax = 2_097_152
