/** The position in a val that a stack line names, with the surrounding text. */
export interface StackPosition {
  readonly before: string
  readonly label: string
  readonly after: string
  readonly user: string
  readonly val: string
  /** The path of the file; undefined for the one that has the name of its val. */
  readonly file: string | undefined
  readonly line: number
}

/** User, val, and either `.tsx` for main.tsx or the path of another file. */
const positionPattern =
  /(?<![\w@/:.-])([A-Za-z]\w*)\/([A-Za-z][\w-]*)(?:\.tsx|\/([^\s:()"']+))(?:@\d+)?:(\d+)(?::\d+)?/

/** Finds `ada/hello.tsx:3:7` or `ada/hello/lib/db.ts:3:7` in a line of a stack. */
export function parseStackLine(text: string): StackPosition | undefined {
  const match = positionPattern.exec(text)
  if (!match) return undefined
  const [label, user = "", val = "", file, line = ""] = match
  return {
    before: text.slice(0, match.index),
    label,
    after: text.slice(match.index + label.length),
    user,
    val,
    file,
    line: Number(line),
  }
}

/**
 * The first line of an error, and what follows it: more lines of its message, such as the code at a
 * syntax error, and the stack without the message that it repeats.
 */
export function splitError(error: {
  readonly name: string
  readonly message: string
  readonly stack?: string | null | undefined
}): { readonly title: string; readonly details: string } {
  const { name, message, stack } = error
  const [title = "", ...more] = message.split("\n")
  const whole = `${name}: ${message}`
  const frames = stack?.startsWith(whole) ? stack.slice(whole.length).replace(/^\n/, "") : stack
  return { title, details: [...more, ...(frames ? [frames] : [])].join("\n") }
}
