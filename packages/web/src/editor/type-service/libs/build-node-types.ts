import { readdirSync, readFileSync } from "node:fs"
import { join, sep } from "node:path"
import ts from "typescript-js"

/** The folder of the files in the type service. */
const folder = "/node/"

/** CommonJS has them; a val is a module. */
const commonJsNames = ["require", "module", "exports", "__filename", "__dirname"]

/**
 * Reads the declarations of Node's modules by file name. They declare globals too: those that a val
 * already has are left out, since two declarations of one variable contradict each other.
 */
export function readNodeTypes(
  packageFolder: string,
  globals: readonly string[],
): Record<string, string> {
  const left = new Set([...globals.flatMap(listNames), ...commonJsNames])
  // Folders such as `ts5.6` are for older compilers.
  const names = readdirSync(packageFolder, { recursive: true, encoding: "utf8" })
    .map((name) => name.replaceAll(sep, "/"))
    .filter((name) => name.endsWith(".d.ts") && !/^ts\d/.test(name) && name !== "index.d.ts")
    .toSorted()
  return Object.fromEntries(
    names.map((name) => [
      folder + name,
      removeGlobals(readFileSync(join(packageFolder, name), "utf8"), left),
    ]),
  )
}

/** The names that a file without imports and exports declares. */
export function listNames(text: string): readonly string[] {
  return parse(text).statements.flatMap(toNames)
}

/** Leaves out the globals with these names. */
export function removeGlobals(text: string, names: ReadonlySet<string>): string {
  const source = parse(text)
  const isModule = source.statements.some(
    (one) =>
      ts.isImportDeclaration(one) || ts.isExportDeclaration(one) || ts.isExportAssignment(one),
  )
  const removed = listGlobals(source.statements, !isModule).filter((statement) => {
    const declared = toNames(statement)
    return declared.length > 0 && declared.every((name) => names.has(name))
  })
  let rest = text
  for (const { pos, end } of removed.toReversed()) rest = rest.slice(0, pos) + rest.slice(end)
  // The references are to the files of the package, which are all there, and to old libraries.
  return rest.replaceAll(/^\/\/\/ <reference .*$/gm, "")
}

/** The statements that declare globals, in the order of the text. */
function listGlobals(
  statements: readonly ts.Statement[],
  isGlobal: boolean,
): readonly ts.Statement[] {
  return statements.flatMap((statement) => {
    const body = ts.isModuleDeclaration(statement) ? statement.body : undefined
    if (!body || !ts.isModuleBlock(body) || isNamespace(statement))
      return isGlobal ? [statement] : []
    return listGlobals(body.statements, isGlobalScope(statement))
  })
}

/** `namespace X`, but neither `module "x"` nor `global`. */
function isNamespace(statement: ts.Statement): boolean {
  return (
    ts.isModuleDeclaration(statement) &&
    ts.isIdentifier(statement.name) &&
    !isGlobalScope(statement)
  )
}

function isGlobalScope({ flags }: ts.Statement): boolean {
  return (flags & ts.NodeFlags.GlobalAugmentation) !== 0
}

/** Without namespaces, whose declarations are merged. */
function toNames(statement: ts.Statement): readonly string[] {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.flatMap(({ name }) =>
      ts.isIdentifier(name) ? [name.text] : [],
    )
  const isNamed =
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement) ||
    ts.isClassDeclaration(statement) ||
    ts.isFunctionDeclaration(statement)
  return isNamed && statement.name ? [statement.name.text] : []
}

function parse(text: string): ts.SourceFile {
  return ts.createSourceFile("/types.d.ts", text, ts.ScriptTarget.ESNext)
}
