/** What a parser process is asked to do with a piece of code. */
export type ParseTask = "scan_imports" | "to_javascript"

/** What the server sends to a parser process, one at a time. */
export type ParseRequest =
  | { readonly task: ParseTask; readonly code: string }
  /** Many small pieces at once: each by itself takes longer on its way than in the parser. */
  | { readonly task: "scan_many_imports"; readonly codes: readonly string[] }

/** What a parser process sends back. */
export type ParseResponse =
  | { readonly kind: "imports"; readonly specifiers: readonly string[] }
  | { readonly kind: "many_imports"; readonly specifiers: readonly (readonly string[])[] }
  | { readonly kind: "javascript"; readonly code: string }
  | { readonly kind: "refused"; readonly message: string }

/** How the parser failed to answer. Whose fault it is cannot be known: the code's, most likely. */
export type ParseFailure =
  | { readonly kind: "timed_out" }
  | { readonly kind: "out_of_memory" }
  | { readonly kind: "crashed" }

/** How a request ended. */
export type ParseOutcome = ParseResponse | ParseFailure

/** The first message of a parser process: from now on its time is the code's time. */
export const readyMessage = "ready"
