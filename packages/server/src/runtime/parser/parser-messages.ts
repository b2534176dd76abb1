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

/** Why the parser did not respond. Most likely the code is the reason. */
export interface ParseFailure {
  readonly kind: "timed_out" | "out_of_memory" | "crashed"
}

/** Too many requests were waiting, or this one waited too long. */
export interface Overloaded {
  readonly kind: "overloaded"
}

/** How a request ended. */
export type ParseOutcome = ParseResponse | ParseFailure | Overloaded

/** The parser did not start, so the code is not the reason. */
export interface Unavailable {
  readonly kind: "unavailable"
  /** The reason, where the system gave one. */
  readonly message: string | undefined
}
