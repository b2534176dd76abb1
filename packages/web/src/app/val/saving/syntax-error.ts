/** Why a saved version cannot run. */
export interface SaveProblem {
  readonly message: string
  readonly line?: number
}

/** Only an error with a line is one of the syntax: decorators cannot be converted, but run. */
export function toSyntaxError(error: {
  readonly code: string
  readonly message: string
}): SaveProblem | undefined {
  const { code, message } = error
  const match = /: (.+) \(line (\d+)\)$/s.exec(message)
  if (code !== "module_not_parsable" || !match) return undefined
  const [, reason = "", line = ""] = match
  return { message: `The code does not parse: ${reason} (line ${line})`, line: Number(line) }
}
