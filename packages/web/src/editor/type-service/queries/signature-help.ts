import ts from "typescript-js"
import type { SignatureHelp } from "../protocol.ts"

const limits = { charsMax: 1_000, documentationCharsMax: 1_000 }

/** The signature of the call around a position, with the parameter that is being written. */
export function helpWithCall(
  service: ts.LanguageService,
  fileName: string,
  position: number,
): SignatureHelp | null {
  const found = service.getSignatureHelpItems(fileName, position, undefined)
  const item = found?.items[found.selectedItemIndex]
  if (!found || !item) return null
  const parameters = item.parameters.map(({ displayParts }) => toText(displayParts))
  const active = item.isVariadic
    ? Math.min(found.argumentIndex, parameters.length - 1)
    : found.argumentIndex
  const about = item.parameters[active]?.documentation ?? []
  const documentation = about.length > 0 ? about : item.documentation
  return {
    prefix: toText(item.prefixDisplayParts),
    parameters,
    separator: toText(item.separatorDisplayParts),
    suffix: toText(item.suffixDisplayParts),
    active,
    documentation: toText(documentation).slice(0, limits.documentationCharsMax),
    index: found.selectedItemIndex,
    count: found.items.length,
  }
}

function toText(parts: readonly ts.SymbolDisplayPart[]): string {
  return ts.displayPartsToString([...parts]).slice(0, limits.charsMax)
}
