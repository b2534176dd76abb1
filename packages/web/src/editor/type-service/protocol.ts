/**
 * What the page and the worker of the type service say to each other: plain data, one message a
 * question, one an answer. Positions are offsets in the text in UTF-16 units, as both CodeMirror
 * and TypeScript count.
 */
export interface Questions {
  /** The names that may stand at a position. */
  readonly complete: {
    readonly ask: { readonly position: number; readonly isExplicit: boolean }
    readonly answer: Completions | null
  }
  /** What one of those names means. */
  readonly describe: {
    readonly ask: { readonly position: number; readonly name: string }
    readonly answer: Description | null
  }
  /** What stands at a position. */
  readonly hover: {
    readonly ask: { readonly position: number }
    readonly answer: (Description & Span) | null
  }
  readonly diagnose: { readonly ask: Record<never, never>; readonly answer: readonly Problem[] }
  readonly format: { readonly ask: Record<never, never>; readonly answer: Formatted }
}

export type QuestionName = keyof Questions

/** From the page. A document's text comes with the first question after it has changed. */
export type ToWorker =
  | { readonly kind: "start"; readonly libsUrl: string; readonly baseUrl: string }
  | { readonly kind: "open" | "close"; readonly path: string }
  | {
      readonly kind: "ask"
      readonly id: number
      readonly path: string
      readonly text: string | undefined
      readonly name: QuestionName
      readonly ask: Questions[QuestionName]["ask"]
    }

/**
 * What the page knows and the worker cannot read itself: it comes with every message, since it
 * changes when somebody signs in.
 */
export interface FromPage {
  readonly pageKey: string
}

/** From the worker. */
export type FromWorker =
  | { readonly kind: "ready" }
  /** Modules have arrived, so that earlier answers may be out of date. */
  | { readonly kind: "types_changed" }
  | { readonly kind: "failed"; readonly message: string }
  | {
      readonly kind: "answer"
      readonly id: number
      readonly answer: Questions[QuestionName]["answer"]
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
  /** One of CodeMirror's kinds of completions, for the icon. */
  readonly type: string
  /** Smaller comes first. */
  readonly rank: number
  /** What to insert where it is not the name, from this position on. */
  readonly insert?: { readonly text: string; readonly from: number }
}

export interface Description {
  readonly signature: readonly Part[]
  readonly documentation: string
}

/** A piece of a signature and what it is, for its colour. */
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
