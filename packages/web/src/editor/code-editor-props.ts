import type { TypeService } from "./type-service/type-service.ts"

export type EditorLanguage = "typescript" | "markdown" | "json" | "text"

/** A place in a text; both count from 1. */
export interface Place {
  readonly line: number
  readonly column?: number
}

/** What became of an attempt to format. */
export type FormatOutcome =
  | { readonly ok: true; readonly isChanged: boolean }
  | { readonly ok: false; readonly message: string }

/** What can be done with an editor from outside. */
export interface CodeEditorHandle {
  getText(): string
  /**
   * Replaces what differs, as one change that can be undone. The cursor stays where it was as far
   * as that is still there.
   */
  setText(text: string): void
  goToLine(line: number, column?: number): void
  focus(): void
  format(): Promise<FormatOutcome>
  openSearch(): void
}

export interface CodeEditorProps {
  /**
   * The text to begin with. The text is the editor's from then on: another value is not taken over
   * unless the path is another one.
   */
  readonly value: string
  readonly language: EditorLanguage
  /**
   * What the document is called, as `ada/hello.tsx`. Another path is another document, which begins
   * with the value of that moment.
   */
  readonly path: string
  /** The name of the editor for those who do not see it. */
  readonly label: string
  readonly readOnly?: boolean
  /** Goes there whenever another object is given. */
  readonly goTo?: Place | undefined
  readonly typeService?: TypeService | undefined
  /** Is given the handle once the editor is there, and null when it is gone. */
  readonly handle?: { current: CodeEditorHandle | null } | undefined
  /** After every change that was made in the editor; not after `setText`. */
  readonly onChange?: ((text: string) => void) | undefined
  /** Control-S, or Command-S. */
  readonly onSave?: (() => void) | undefined
  /** Control-Enter, or Command-Enter. */
  readonly onRun?: (() => void) | undefined
  /** After every attempt to format, whoever asked for it. */
  readonly onFormat?: ((outcome: FormatOutcome) => void) | undefined
}
