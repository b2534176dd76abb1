import type { WrittenImport } from "../../domain/modules/imports/written-imports.ts"

/** What a parser process does with a piece of code. */
export type ParseTask = "scan_imports" | "scan_places" | "to_javascript"

/** What the server sends to a parser process. */
export type ParseRequest =
  | { readonly task: ParseTask; readonly code: string }
  /** Many small pieces in one request: sending one takes longer than parsing it. */
  | { readonly task: "scan_many_imports"; readonly codes: readonly string[] }

/** What a parser process sends back. */
export type ParseResponse =
  | { readonly kind: "imports"; readonly specifiers: readonly string[] }
  | { readonly kind: "many_imports"; readonly specifiers: readonly (readonly string[])[] }
  | { readonly kind: "places"; readonly places: readonly WrittenImport[] | null }
  | { readonly kind: "javascript"; readonly code: string }
  | { readonly kind: "refused"; readonly message: string }
