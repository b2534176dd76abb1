/** Control characters except tab and newline, DEL and C1: what a terminal would interpret. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about.
const controls = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g
const pictureOf = { null: 0x2400, delete: 0x2421 }

/**
 * Makes foreign text safe for a terminal: control characters, which could move the cursor, change
 * the title or fake input, become visible symbols. CRLF becomes LF.
 */
export function toVisible(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(controls, (control) => {
    const code = control.charCodeAt(0)
    if (code === 0x7f) return String.fromCharCode(pictureOf.delete)
    return code < 0x20 ? String.fromCharCode(pictureOf.null + code) : "\ufffd"
  })
}

/** Makes text safe and puts it on one line, for a table cell. */
export function toOneLine(text: string): string {
  return toVisible(text).replaceAll(/[\t\n]+/g, " ")
}
