import type { LockedVersion } from "./type-service/package-types.ts"
import type { Definition, TextEdit } from "./type-service/protocol.ts"
import type { TypeService } from "./type-service/type-service.ts"

export type EditorLanguage = "typescript" | "markdown" | "html" | "css" | "json" | "text"

/** A position in a text; both numbers count from 1. */
export interface TextPosition {
  readonly line: number
  readonly column?: number
}

/** The outcome of formatting. */
export type FormatOutcome =
  | { readonly ok: true; readonly isChanged: boolean }
  | { readonly ok: false; readonly message: string }

/** Formats code elsewhere. Undefined when it is not available: the type service formats then. */
export type FormatCode = (code: string) => Promise<FormattedText | undefined>

export type FormattedText =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly message: string }

/** Why code does not parse, in the words of the editor's marks. */
export interface CodeSyntaxError {
  readonly message: string
  /** Counts from 1. */
  readonly line: number
}

/** The methods of an editor. */
export interface CodeEditorHandle {
  getText(): string
  /** Replaces what differs, as one change that can be undone. The cursor stays if possible. */
  setText(text: string): void
  goToLine(line: number, column?: number): void
  focus(): void
  format(): Promise<FormatOutcome>
  /** The first syntax error; null without one, undefined while the types are not loaded. */
  findSyntaxError(): Promise<CodeSyntaxError | null | undefined>
  openSearch(): void
  /** Checks the types again: other files may have changed while it was hidden. */
  checkAgain(): void
}

export interface CodeEditorProps {
  /** Gives the editor the focus, as soon as it is there, and is called then. */
  readonly takeFocus?: (() => void) | undefined
  /** The initial text. A later value is ignored. Another document needs another `key`. */
  readonly value: string
  readonly language: EditorLanguage
  /** The name of the document, as `ada/hello.tsx`. Another path renames it. */
  readonly path: string
  /** The accessible name. */
  readonly label: string
  readonly readOnly?: boolean
  /** Whether long lines of code are wrapped; those of prose always are. */
  readonly isWrapped?: boolean
  /** Goes there whenever the object changes. */
  readonly goTo?: TextPosition | undefined
  readonly typeService?: TypeService | undefined
  /** The saved version of the document, for the types of its packages. */
  readonly locked?: LockedVersion | undefined
  readonly formatCode?: FormatCode | undefined
  /** Receives the handle when the editor is created, and null when it is removed. */
  readonly handle?: { current: CodeEditorHandle | null } | undefined
  /** Called after every change in the editor, but not after `setText`. */
  readonly onChange?: ((text: string) => void) | undefined
  /** Control-S, or Command-S. */
  readonly onSave?: (() => void) | undefined
  /** Control-Enter, or Command-Enter. */
  readonly onRun?: (() => void) | undefined
  /** Called after formatting by key. */
  readonly onFormat?: ((outcome: FormatOutcome) => void) | undefined
  /** F12, or a click with Control, on a name that another file declares. */
  readonly onDefinition?: ((definition: Exclude<Definition, { kind: "here" }>) => void) | undefined
  /** Changes another document: a name was changed in all files. */
  readonly onEdits?: ((path: string, edits: readonly TextEdit[]) => void) | undefined
  /** A command could do nothing; the message says why. */
  readonly onProblem?: ((message: string) => void) | undefined
}
