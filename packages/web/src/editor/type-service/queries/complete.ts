import ts from "typescript-js"
import type { Project } from "../project.ts"
import type { CompletionOption, Completions } from "../protocol.ts"
import { listImportable, toImportEdit } from "./auto-imports.ts"
import { completeImport } from "./import-strings.ts"

const limits = {
  /** More names than the list can show would be sorted on every key. */
  optionsMax: 3_000,
}

const preferences: ts.UserPreferences = {
  includeCompletionsWithInsertText: true,
  includeAutomaticOptionalChainCompletions: true,
}

/** The completions at a position; null where none are expected. */
export function complete(
  project: Project,
  path: string,
  position: number,
  isExplicit: boolean,
): Completions | null {
  const inImport = completeImport(project, path, position)
  if (inImport) return inImport
  const text = project.getText(path)
  const from =
    position - (/[\w$]*$/.exec(text.slice(Math.max(0, position - 100), position))?.[0].length ?? 0)
  const before = text[from - 1]
  const isAsked =
    isExplicit || from < position || (before !== undefined && `."'/<@`.includes(before))
  if (!isAsked || /^\d/.test(text.slice(from, position))) return null
  const fileName = project.toFileName(path)
  const found = project.findService(path).getCompletionsAtPosition(fileName, position, preferences)
  if (!found) return null
  const span = found.optionalReplacementSpan
  const options = found.entries
    .filter(({ kind }) => kind !== ts.ScriptElementKind.warning)
    .toSorted(compareEntries)
    .slice(0, limits.optionsMax)
    .map(toOption)
  if (!found.isMemberCompletion && from < position) {
    const known = new Set(options.map(({ name }) => name))
    const typed = text.slice(from, position).toLowerCase()
    options.push(...listImports(project, path, typed).filter(({ name }) => !known.has(name)))
  }
  // Inside a string, names may contain any characters, and TypeScript reports where they begin.
  return { from: span?.start ?? from, to: position, options }
}

/** Names that are offered together with their import. */
function listImports(project: Project, path: string, typed: string): CompletionOption[] {
  const isWanted = (name: string) => name.toLowerCase().startsWith(typed)
  return listImportable(project, path, isWanted).map((one) => ({
    name: one.name,
    type: one.symbol.flags & ts.SymbolFlags.Type ? "class" : "function",
    rank: importRank,
    source: { specifier: one.specifier, edit: toImportEdit(project, path, one) },
  }))
}

/** After all names that need no import. */
const importRank = 30

/** A name from the list, as TypeScript describes it. */
export function findDetails(
  service: ts.LanguageService,
  fileName: string,
  position: number,
  name: string,
) {
  return service.getCompletionEntryDetails(
    fileName,
    position,
    name,
    undefined,
    undefined,
    preferences,
    undefined,
  )
}

function toOption({
  name,
  kind,
  sortText,
  insertText,
  replacementSpan,
}: ts.CompletionEntry): CompletionOption {
  const option = { name, type: iconOf[kind] ?? "variable", rank: toRank(sortText) }
  if (insertText === undefined || insertText === name) return option
  return replacementSpan
    ? { ...option, insert: { text: insertText, from: replacementSpan.start } }
    : option
}

/** TypeScript's order, but names that are marked as internal come after their equals. */
function compareEntries(one: ts.CompletionEntry, other: ts.CompletionEntry): number {
  if (one.sortText !== other.sortText) return one.sortText < other.sortText ? -1 : 1
  return Number(/^[_$]/.test(one.name)) - Number(/^[_$]/.test(other.name))
}

/** TypeScript sorts by texts such as `11`; deprecated names begin with z. */
function toRank(sortText: string): number {
  return Number(/\d+/.exec(sortText)?.[0] ?? 0) + (sortText.startsWith("z") ? 10 : 0)
}

const iconOf: Readonly<Record<string, string>> = {
  [ts.ScriptElementKind.keyword]: "keyword",
  [ts.ScriptElementKind.classElement]: "class",
  [ts.ScriptElementKind.interfaceElement]: "interface",
  [ts.ScriptElementKind.typeElement]: "type",
  [ts.ScriptElementKind.primitiveType]: "type",
  [ts.ScriptElementKind.typeParameterElement]: "type",
  [ts.ScriptElementKind.enumElement]: "enum",
  [ts.ScriptElementKind.enumMemberElement]: "constant",
  [ts.ScriptElementKind.constElement]: "constant",
  [ts.ScriptElementKind.functionElement]: "function",
  [ts.ScriptElementKind.localFunctionElement]: "function",
  [ts.ScriptElementKind.memberFunctionElement]: "method",
  [ts.ScriptElementKind.memberVariableElement]: "property",
  [ts.ScriptElementKind.memberGetAccessorElement]: "property",
  [ts.ScriptElementKind.memberSetAccessorElement]: "property",
  [ts.ScriptElementKind.memberAccessorVariableElement]: "property",
  [ts.ScriptElementKind.moduleElement]: "namespace",
  [ts.ScriptElementKind.string]: "text",
}
