import type { Problem } from "../../../editor/type-service/protocol.ts"
import { describeSyntaxError } from "../saving/syntax-error.ts"

/** A problem of a file, as the list shows it. */
export interface FileProblem {
  /** Absent if it is about all files. */
  readonly path?: string
  readonly line?: number
  readonly message: string
}

/** A problem that the type service has found in a text, in the words of a problem of a save. */
export function toFileProblem(path: string, text: string, problem: Problem): FileProblem {
  const line = text.slice(0, problem.from).split("\n").length
  if (problem.isSyntax) return { path, ...describeSyntaxError({ message: problem.message, line }) }
  // The lines that follow explain the first.
  const [first = ""] = problem.message.split("\n")
  return { path, line, message: first.replace(/\.$/, "") }
}
