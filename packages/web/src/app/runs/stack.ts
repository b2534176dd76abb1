/** A place in somebody's code that a line of a stack names, with the text around it. */
export interface StackPlace {
  readonly before: string
  readonly label: string
  readonly after: string
  readonly user: string
  readonly val: string
  readonly line: number
}

/** Finds `ada/hello.tsx:3:7` in a line of a stack. */
export function findPlace(text: string): StackPlace | undefined {
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
