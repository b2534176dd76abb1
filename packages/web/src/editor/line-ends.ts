/** The text with lines that end in "\n", as in the editor and for the type service. */
export function toPlainLines(text: string): string {
  return text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text
}

/** The text with the line ends that another text begins with. */
export function withLineEndsOf(other: string, text: string): string {
  const plain = toPlainLines(text)
  return /\r?\n/.exec(other)?.[0] === "\r\n" ? plain.replaceAll("\n", "\r\n") : plain
}
