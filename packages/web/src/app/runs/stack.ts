/** The position in a val that a stack line names, with the surrounding text. */
export interface StackPosition {
  readonly before: string
  readonly label: string
  readonly after: string
  readonly user: string
  readonly val: string
  readonly line: number
}

/** Finds `ada/hello.tsx:3:7` in a line of a stack. */
export function parseStackLine(text: string): StackPosition | undefined {
  const match =
    /\b([a-zA-Z][a-zA-Z0-9_]*)\/([a-zA-Z][a-zA-Z0-9_]*)\.tsx(?:@\d+)?:(\d+)(?::\d+)?/.exec(text)
  if (!match) return undefined
  const [label, user = "", val = "", line = ""] = match
  return {
    before: text.slice(0, match.index),
    label,
    after: text.slice(match.index + label.length),
    user,
    val,
    line: Number(line),
  }
}
