/**
 * The queries that the page sends to the type worker, one message each way. Positions are offsets in
 * UTF-16 units, as in CodeMirror and TypeScript.
 */
export interface TypeQueries {
  /** The completions at a position. */
  readonly complete: {
    readonly input: { readonly position: number; readonly isExplicit: boolean }
    readonly result: Completions | null
  }
  /** The description of a completion. */
  readonly describe: {
    readonly input: { readonly position: number; readonly name: string }
    readonly result: Description | null
  }
  /** The description of the name at a position. */
  readonly hover: {
    readonly input: { readonly position: number }
    readonly result: (Description & Span) | null
  }
  readonly diagnose: { readonly input: Record<never, never>; readonly result: readonly Problem[] }
  readonly format: { readonly input: Record<never, never>; readonly result: Formatted }
}

export type TypeQueryName = keyof TypeQueries

/** From the page. A query contains the text of the document if it has changed. */
export type ToWorker =
  | { readonly kind: "start"; readonly libsUrl: string; readonly baseUrl: string }
  | { readonly kind: "open" | "close"; readonly path: string }
  | {
      readonly kind: "query"
      readonly id: number
      readonly path: string
      readonly text: string | undefined
      readonly name: TypeQueryName
      readonly input: TypeQueries[TypeQueryName]["input"]
    }

/** Sent with every message: the worker cannot read it, and it changes when the user signs in. */
export interface FromPage {
  readonly pageKey: string
}

/** From the worker. */
export type FromWorker =
  | { readonly kind: "ready" }
  /** Modules were loaded: earlier results may be out of date. */
  | { readonly kind: "types_changed" }
  | { readonly kind: "failed"; readonly message: string }
  | {
      readonly kind: "result"
      readonly id: number
      readonly result: TypeQueries[TypeQueryName]["result"]
    }

export interface Span {
  readonly from: number
  readonly to: number
}

export interface Completions extends Span {
  readonly options: readonly CompletionOption[]
}

export interface CompletionOption {
  readonly name: string
  /** A completion type of CodeMirror, for the icon. */
  readonly type: string
  /** Smaller comes first. */
  readonly rank: number
  /** The text to insert from this position on, when it is not the name. */
  readonly insert?: { readonly text: string; readonly from: number }
}

export interface Description {
  readonly signature: readonly Part[]
  readonly documentation: string
}

/** A part of a signature and its kind, for the colour. */
export interface Part {
  readonly text: string
  readonly kind: "word" | "type" | "string" | "number" | "plain"
}

export interface Problem extends Span {
  readonly severity: "error" | "warning"
  readonly message: string
}

export type Formatted =
  | { readonly ok: true; readonly edits: readonly (Span & { readonly text: string })[] }
  | { readonly ok: false; readonly message: string }
