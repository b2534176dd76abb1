/**
 * Everything below a space but tab and newline, DEL, and the C1 controls: what makes a terminal do
 * things.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about.
const controls = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g
const pictureOf = { null: 0x2400, delete: 0x2421 }

/**
 * Text of somebody else's for a terminal: what would move the cursor, change the title or answer
 * for the person is shown instead of obeyed. A carriage return before a newline is left out.
 */
export function toVisible(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(controls, (control) => {
    const code = control.charCodeAt(0)
    if (code === 0x7f) return String.fromCharCode(pictureOf.delete)
    return code < 0x20 ? String.fromCharCode(pictureOf.null + code) : "\ufffd"
  })
}

/** The same on one line, as a cell of a table needs it. */
export function toOneLine(text: string): string {
  return toVisible(text).replaceAll(/[\t\n]+/g, " ")
}
