import ts from "typescript-js"
import type { Project } from "../project.ts"
import type { TextEdit } from "../protocol.ts"

/** A name that a document could import. */
export interface Importable {
  readonly name: string
  readonly specifier: string
  readonly isDefault: boolean
  readonly symbol: ts.Symbol
}

const limits = { exportsPerModuleMax: 2_000, foundMax: 300 }

/**
 * The exports of known modules whose names match: of the standard library, of packages that have
 * types, and of vals that open documents import. Names that the document declares are left out.
 */
export function listImportable(
  project: Project,
  path: string,
  isWanted: (name: string) => boolean,
): readonly Importable[] {
  const program = project.findService(path).getProgram()
  const source = program?.getSourceFile(project.toFileName(path))
  if (!program || !source) return []
  const checker = program.getTypeChecker()
  const declared = new Set(listImported(source).map(({ name }) => name))
  const found: Importable[] = []
  for (const { specifier, fileName } of project.listModules(path)) {
    const module = program.getSourceFile(fileName)
    const symbol = module && checker.getSymbolAtLocation(module)
    if (!symbol) continue
    for (const one of checker.getExportsOfModule(symbol).slice(0, limits.exportsPerModuleMax)) {
      const isDefault = one.name === "default"
      const name = isDefault ? toIdentifier(specifier) : one.name
      if (!/^[A-Za-z_$][\w$]*$/.test(name) || declared.has(name) || !isWanted(name)) continue
      found.push({ name, specifier, isDefault, symbol: one })
      if (found.length >= limits.foundMax) return found
    }
  }
  return found
}

/** The change that imports a name: in an existing import, or in a new line after the last one. */
export function toImportEdit(
  project: Project,
  path: string,
  { name, specifier, isDefault }: Importable,
): TextEdit {
  const source = project.findService(path).getProgram()?.getSourceFile(project.toFileName(path))
  const imports = source?.statements.filter(ts.isImportDeclaration) ?? []
  const named = isDefault ? undefined : imports.map((one) => toNamed(one, specifier)).find(Boolean)
  const last = named?.elements.at(-1)
  if (last) return { from: last.end, to: last.end, text: `, ${name}` }
  const line = `import ${isDefault ? name : `{ ${name} }`} from ${quote(source, specifier)}${endOf(imports.at(-1), source)}`
  const after = imports.at(-1)
  if (after) return { from: after.end, to: after.end, text: `\n${line}` }
  // After comments such as `@jsxImportSource`, which must come first.
  const start = source?.statements[0]?.getStart(source) ?? 0
  return { from: start, to: start, text: `${line}\n` }
}

function toNamed(
  { importClause, moduleSpecifier }: ts.ImportDeclaration,
  specifier: string,
): ts.NamedImports | undefined {
  const isSame = ts.isStringLiteral(moduleSpecifier) && moduleSpecifier.text === specifier
  const bindings = importClause?.namedBindings
  return isSame && !importClause?.isTypeOnly && bindings && ts.isNamedImports(bindings)
    ? bindings
    : undefined
}

/** The names that imports declare. */
function listImported({ statements }: ts.SourceFile): readonly { readonly name: string }[] {
  return statements.filter(ts.isImportDeclaration).flatMap(({ importClause }) => {
    const bindings = importClause?.namedBindings
    const names =
      bindings && ts.isNamedImports(bindings) ? bindings.elements.map((one) => one.name) : []
    const whole = bindings && ts.isNamespaceImport(bindings) ? [bindings.name] : []
    return [...names, ...whole, ...(importClause?.name ? [importClause.name] : [])].map(
      ({ text }) => ({ name: text }),
    )
  })
}

/** With the quotes that the document uses. */
function quote(source: ts.SourceFile | undefined, specifier: string): string {
  const isSingle = /\bfrom\s*'/.test(source?.text ?? "")
  return isSingle ? `'${specifier}'` : `"${specifier}"`
}

/** A semicolon, if the import before has one. */
function endOf(
  before: ts.ImportDeclaration | undefined,
  source: ts.SourceFile | undefined,
): string {
  return before && source?.text[before.end - 1] === ";" ? ";" : ""
}

/** `lodash` for `npm:lodash@4`, and `greet` for `/v/ada/greet`. */
function toIdentifier(specifier: string): string {
  const last =
    specifier
      .replace(/^npm:/, "")
      .replace(/(?<=.)@[^/]*/, "")
      .split("/")
      .at(-1) ?? ""
  return last.replaceAll(/\W+(\w)?/g, (_, next: string | undefined) => next?.toUpperCase() ?? "")
}
