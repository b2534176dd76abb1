const pattern = /(?:\s|\/\*[\s\S]*?\*\/|\/\/[^\n\r\u2028\u2029]*)*/y

/** The position after white space and comments. */
export function skipTrivia(code: string, from: number): number {
  pattern.lastIndex = from
  return from + (pattern.exec(code)?.[0].length ?? 0)
}
