/** Why a saved version cannot run. */
export interface SaveProblem {
  /** The file that it is about; absent if it is about all of them. */
  readonly path?: string
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
  return describeSyntaxError({ message: reason, line: Number(line) })
}

/** A syntax error in one sentence. */
export function describeSyntaxError(error: {
  readonly message: string
  readonly line: number
}): SaveProblem {
  const { message, line } = error
  return { message: `The code does not parse: ${message.replace(/\.$/, "")} (line ${line})`, line }
}
