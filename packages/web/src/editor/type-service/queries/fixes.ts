import type ts from "typescript-js"
import type { Project } from "../project.ts"
import type { Fix, Span } from "../protocol.ts"
import { listImportable, toImportEdit } from "./auto-imports.ts"
import { formatSettings } from "./format.ts"

const limits = { problemsMax: 10, fixesMax: 20, titleCharsMax: 200 }

/** "Cannot find name", in its variants. */
const unknownNameCodes: ReadonlySet<number> = new Set([2304, 2552, 2503, 2686, 18004])

/** What TypeScript can do about the problems of a range. */
export function listFixes(project: Project, path: string, { from, to }: Span): readonly Fix[] {
  const service = project.findService(path)
  const fileName = project.toFileName(path)
  const problems = [
    ...service.getSyntacticDiagnostics(fileName),
    ...service.getSemanticDiagnostics(fileName),
    ...service.getSuggestionDiagnostics(fileName),
  ].filter(({ start = 0, length = 0 }) => start <= to && from <= start + length)
  const fixes = problems
    .slice(0, limits.problemsMax)
    .flatMap((problem) => [
      ...listImportFixes(project, path, problem),
      ...listOwnFixes(service, fileName, problem),
    ])
  return [...new Map(fixes.map((fix) => [fix.title, fix])).values()].slice(0, limits.fixesMax)
}

/** TypeScript would import from paths that exist only in the worker. */
function listImportFixes(
  project: Project,
  path: string,
  { code, start = 0, length = 0 }: ts.Diagnostic,
): readonly Fix[] {
  if (!unknownNameCodes.has(code)) return []
  const name = project.getText(path).slice(start, start + length)
  return listImportable(project, path, (one) => one === name).map((one) => ({
    title: `Import ${one.name} from "${one.specifier}"`,
    edits: [toImportEdit(project, path, one)],
  }))
}

function listOwnFixes(
  service: ts.LanguageService,
  fileName: string,
  { code, start = 0, length = 0 }: ts.Diagnostic,
): readonly Fix[] {
  return service
    .getCodeFixesAtPosition(fileName, start, start + length, [code], formatSettings, {})
    .filter(
      ({ fixName, changes }) =>
        fixName !== "import" && changes.every((change) => change.fileName === fileName),
    )
    .map(({ description, changes }) => ({
      title: description.slice(0, limits.titleCharsMax),
      edits: changes
        .flatMap(({ textChanges }) => textChanges)
        .map(({ span, newText }) => ({
          from: span.start,
          to: span.start + span.length,
          text: newText,
        })),
    }))
}
