import type { LockedVersion } from "./package-types.ts"

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
  /** The signature of the call around a position. */
  readonly signature: {
    readonly input: { readonly position: number }
    readonly result: SignatureHelp | null
  }
  readonly definition: {
    readonly input: { readonly position: number }
    readonly result: Definition | null
  }
  /** The places at which a name has to be replaced to rename it. */
  readonly rename: { readonly input: { readonly position: number }; readonly result: RenamePlaces }
  /** What can be done about the problems of a range. */
  readonly fixes: { readonly input: Span; readonly result: readonly Fix[] }
  /** The parameters of the function that a run calls; null if there is none. */
  readonly parameters: {
    readonly input: Record<never, never>
    readonly result: readonly CallParameter[] | null
  }
  readonly diagnose: { readonly input: Record<never, never>; readonly result: readonly Problem[] }
  readonly format: { readonly input: Record<never, never>; readonly result: Formatted }
}

export type TypeQueryName = keyof TypeQueries

/** From the page. A query contains the text of the document if it has changed. */
export type ToWorker =
  | {
      readonly kind: "start"
      readonly libsUrl: string
      readonly nodeTypesUrl: string
      readonly domTypesUrl: string
      readonly baseUrl: string
    }
  | { readonly kind: "open" | "close"; readonly path: string }
  /** The text of a document that no query is about. */
  | { readonly kind: "text"; readonly path: string; readonly text: string }
  | { readonly kind: "lock"; readonly path: string; readonly locked: LockedVersion }
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
  /** Whether the options are modules, whose names contain any characters. */
  readonly isModule?: boolean
  /** In the order in which they are shown where they match equally well. */
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
  /** The module that it is imported from, with the change that does so. */
  readonly source?: { readonly specifier: string; readonly edit: TextEdit }
}

export interface TextEdit extends Span {
  readonly text: string
}

/** A signature in parts, as they are shown. */
export interface SignatureHelp {
  readonly prefix: string
  readonly parameters: readonly string[]
  readonly separator: string
  readonly suffix: string
  /** The index of the parameter at the cursor. */
  readonly active: number
  readonly documentation: string
  /** Which of the overloads this is. */
  readonly index: number
  readonly count: number
}

/** Where a name is declared. Lines count from 1. */
export type Definition =
  | ({ readonly kind: "here" } & Span)
  /** In another document. */
  | { readonly kind: "document"; readonly path: string; readonly line: number }
  | {
      readonly kind: "val"
      readonly user: string
      readonly name: string
      /** The path of a file; null for the entry file. */
      readonly file: string | null
      readonly line: number
    }
  /** A file that has no page: of a package, of the standard library, or of Deno. */
  | { readonly kind: "file"; readonly title: string; readonly text: string; readonly line: number }

export type RenamePlaces =
  | {
      readonly ok: true
      readonly name: string
      readonly places: readonly RenamePlace[]
    }
  | { readonly ok: false; readonly message: string }

/** A place of a name in a document. */
export interface RenamePlace extends Span {
  readonly path: string
  readonly prefix: string
  readonly suffix: string
}

export interface Fix {
  readonly title: string
  readonly edits: readonly TextEdit[]
}

/** A parameter of a function, for a form. */
export interface CallParameter {
  readonly name: string
  readonly isOptional: boolean
  /** Whether the parameter takes all further arguments. */
  readonly isRest: boolean
  readonly field: ParameterField
  /** The type as it is written, or as TypeScript infers it. */
  readonly type: string
  readonly documentation: string
}

/** The input for a parameter: `json` for all types without one of their own. */
export type ParameterField =
  | { readonly kind: "text" | "number" | "boolean" | "json" }
  | { readonly kind: "choice"; readonly values: readonly (string | number | boolean)[] }

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
  /** The code does not parse. */
  readonly isSyntax?: true
}

export type Formatted =
  | { readonly ok: true; readonly edits: readonly TextEdit[] }
  | { readonly ok: false; readonly message: string }
