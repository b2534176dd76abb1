import ts from "typescript-js"
import type { Project } from "../project.ts"
import type { CallParameter, ParameterField } from "../protocol.ts"

const limits = { parametersMax: 20, choicesMax: 50, typeCharsMax: 300, documentationCharsMax: 500 }

/**
 * The parameters of the function that a run calls: the default export, or the only exported
 * function. Null without such a function.
 */
export function listParameters(project: Project, path: string): readonly CallParameter[] | null {
  const program = project.findService(path).getProgram()
  const source = program?.getSourceFile(project.toFileName(path))
  if (!program || !source) return null
  const checker = program.getTypeChecker()
  const signature = findSignature(checker, source)
  if (!signature) return null
  return signature.parameters
    .slice(0, limits.parametersMax)
    .map((parameter, index) => toParameter(checker, parameter, index, source))
}

function findSignature(checker: ts.TypeChecker, source: ts.SourceFile): ts.Signature | undefined {
  const module = checker.getSymbolAtLocation(source)
  const exported = module ? checker.getExportsOfModule(module) : []
  const callable = exported.flatMap((symbol) => {
    const [signature] = checker.getTypeOfSymbolAtLocation(symbol, source).getCallSignatures()
    return signature ? [{ name: symbol.name, signature }] : []
  })
  const main = callable.find(({ name }) => name === "default")
  return main?.signature ?? (callable.length === 1 ? callable[0]?.signature : undefined)
}

function toParameter(
  checker: ts.TypeChecker,
  symbol: ts.Symbol,
  index: number,
  source: ts.SourceFile,
): CallParameter {
  const declaration = symbol.valueDeclaration
  const own = declaration && ts.isParameter(declaration) ? declaration : undefined
  const type = checker.getTypeOfSymbolAtLocation(symbol, own ?? source)
  const isRest = own?.dotDotDotToken !== undefined
  const isOptional = isRest || (own !== undefined && checker.isOptionalParameter(own))
  return {
    // A destructured parameter has no name.
    name: own && ts.isIdentifier(own.name) ? own.name.text : `argument ${index + 1}`,
    isOptional,
    isRest,
    field: isRest ? { kind: "json" } : toField(checker, type),
    type: checker.typeToString(type, source).slice(0, limits.typeCharsMax),
    documentation: ts
      .displayPartsToString(symbol.getDocumentationComment(checker))
      .slice(0, limits.documentationCharsMax),
  }
}

function toField(checker: ts.TypeChecker, type: ts.Type): ParameterField {
  const given = checker.getNonNullableType(type)
  const isAll = (flags: ts.TypeFlags) => (given.flags & flags) !== 0
  if (isAll(ts.TypeFlags.String)) return { kind: "text" }
  if (isAll(ts.TypeFlags.Number)) return { kind: "number" }
  if (isAll(ts.TypeFlags.Boolean | ts.TypeFlags.BooleanLiteral)) return { kind: "boolean" }
  const values = given.isUnion() ? given.types.map((one) => toLiteral(checker, one)) : []
  const isChoice = values.length > 0 && values.length <= limits.choicesMax
  return isChoice && values.every((value) => value !== undefined)
    ? { kind: "choice", values }
    : { kind: "json" }
}

function toLiteral(checker: ts.TypeChecker, type: ts.Type): string | number | boolean | undefined {
  if (type.isStringLiteral() || type.isNumberLiteral()) return type.value
  return type.flags & ts.TypeFlags.BooleanLiteral
    ? checker.typeToString(type) === "true"
    : undefined
}
