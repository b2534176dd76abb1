import type { SaveProblem } from "./syntax-error.ts"

/** More than a user reads. */
const problemsMax = 100

/** The problems together, each once. */
export function addProblems(
  known: readonly SaveProblem[],
  found: readonly SaveProblem[],
): readonly SaveProblem[] {
  const byText = new Map(
    [...known, ...found].map((problem) => [`${problem.path ?? ""} ${problem.message}`, problem]),
  )
  return [...byText.values()].slice(0, problemsMax)
}
