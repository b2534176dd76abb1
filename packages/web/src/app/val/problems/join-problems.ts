import type { FileProblem } from "./to-file-problem.ts"

/**
 * The problems that types have found, and those of the last save that they do not mention, by file
 * and line.
 */
export function joinProblems(
  live: readonly FileProblem[],
  saved: readonly FileProblem[],
): readonly FileProblem[] {
  const known = new Set(live.map(toSubject))
  return [...live, ...saved.filter((problem) => !known.has(toSubject(problem)))].toSorted(
    (one, other) =>
      (one.path ?? "").localeCompare(other.path ?? "") || (one.line ?? 0) - (other.line ?? 0),
  )
}

/** Two checks may say the same about an import or the syntax of a file in other words. */
function toSubject({ path = "", message }: FileProblem): string {
  const [start = message] = /^The (import ".*?"|code does not parse)/.exec(message) ?? []
  return `${path} ${start}`
}
