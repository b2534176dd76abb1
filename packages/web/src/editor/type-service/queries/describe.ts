import ts from "typescript-js"
import type { Description, Part, Span } from "../protocol.ts"
import { findDetails } from "./complete.ts"

const limits = {
  /** Longer types are truncated. */
  signatureCharsMax: 2_000,
  documentationCharsMax: 4_000,
}

/** Describes the name at a position. */
export function describeAt(
  service: ts.LanguageService,
  fileName: string,
  position: number,
): (Description & Span) | null {
  const found = service.getQuickInfoAtPosition(fileName, position)
  if (!found) return null
  const { start, length } = found.textSpan
  return { from: start, to: start + length, ...toDescription(found) }
}

/** Describes a completion. */
export function describeName(
  service: ts.LanguageService,
  fileName: string,
  position: number,
  name: string,
): Description | null {
  const found = findDetails(service, fileName, position, name)
  return found ? toDescription(found) : null
}

interface Described {
  readonly displayParts?: readonly ts.SymbolDisplayPart[]
  readonly documentation?: readonly ts.SymbolDisplayPart[]
}

function toDescription({ displayParts = [], documentation = [] }: Described): Description {
  const text = ts.displayPartsToString([...documentation])
  return {
    signature: toParts(displayParts),
    documentation: cut(text, limits.documentationCharsMax),
  }
}

function toParts(displayParts: readonly ts.SymbolDisplayPart[]): readonly Part[] {
  const parts: Part[] = []
  let left = limits.signatureCharsMax
  for (const { text, kind } of displayParts) {
    if (left <= 0) break
    parts.push({ text: cut(text, left), kind: partKinds[kind] ?? "plain" })
    left -= text.length
  }
  return parts
}

function cut(text: string, charsMax: number): string {
  return text.length > charsMax ? `${text.slice(0, charsMax)}…` : text
}

const partKinds: Readonly<Record<string, Part["kind"]>> = {
  keyword: "word",
  className: "type",
  interfaceName: "type",
  aliasName: "type",
  enumName: "type",
  typeParameterName: "type",
  stringLiteral: "string",
  numericLiteral: "number",
}
