import ts from "typescript-js"
import { describeUnavailable } from "../libs/unavailable.ts"
import type { Project } from "../project.ts"
import type { Problem } from "../protocol.ts"

const limits = { problemsMax: 200, messageCharsMax: 1_000 }

/** Errors that only mean that types are missing: npm packages and Node modules have none here. */
const quietCodes: ReadonlySet<number> = new Set([
  2307, // Cannot find module
  2792, // Cannot find module; did you mean to set moduleResolution
  7016, // Could not find a declaration file for module
  2875, // This JSX tag requires the module path … to exist
  2726, // Cannot find lib definition: Deno has some that TypeScript does not
  2727, // Cannot find lib definition; did you mean another one
  2732, // Cannot find module; consider using resolveJsonModule
  7026, // JSX element implicitly has type any
])

/** The problems of a document, in text order. */
export function diagnose(project: Project, path: string): readonly Problem[] {
  const fileName = project.toFileName(path)
  const service = project.findService(path)
  const unparsed = service
    .getSyntacticDiagnostics(fileName)
    .map((found): Problem => ({ ...toProblem(found), isSyntax: true }))
  if (!project.hasGlobals(path)) return unparsed
  const problems = service
    .getSemanticDiagnostics(fileName)
    .filter(({ code }) => !quietCodes.has(code))
    .map(toProblem)
  const missing = project.listMissing(path).map(
    ({ fileName: specifier, pos, end, isOwnFile }): Problem => ({
      from: pos,
      // TypeScript's span excludes the quotes.
      to: end + 2,
      severity: "error",
      message: `The import "${specifier}" does not work: there is no such ${isOwnFile ? "file in the val" : "val that you may see"}`,
    }),
  )
  return [...unparsed, ...problems, ...missing, ...listUnavailable(project, path)]
    .toSorted((one, other) => one.from - other.from)
    .slice(0, limits.problemsMax)
}

/** Uses of what Deno has and vals have not, which the types mark as deprecated. */
function listUnavailable(project: Project, path: string): readonly Problem[] {
  const text = project.getText(path)
  return project
    .findService(path)
    .getSuggestionDiagnostics(project.toFileName(path))
    .filter(({ reportsDeprecated }) => reportsDeprecated)
    .flatMap(({ start = 0, length = 0 }): Problem[] => {
      const used = text.slice(start, start + length)
      const name = used.slice(used.lastIndexOf(".") + 1)
      const message = describeUnavailable(name)
      return message === undefined
        ? []
        : [{ from: start, to: start + length, severity: "warning", message }]
    })
}

function toProblem({ start = 0, length = 0, category, messageText }: ts.Diagnostic): Problem {
  const message = ts
    .flattenDiagnosticMessageText(messageText, "\n")
    .slice(0, limits.messageCharsMax)
  return {
    from: start,
    to: start + length,
    severity: category === ts.DiagnosticCategory.Error ? "error" : "warning",
    message,
  }
}
