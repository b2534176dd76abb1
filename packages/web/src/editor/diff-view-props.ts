export interface DiffViewProps {
  readonly before: string
  readonly after: string
  /** Side by side needs a wide screen. */
  readonly layout: "inline" | "side-by-side"
  /** The name of the document, as `ada/hello.tsx`; its extension is the language. */
  readonly path: string
  /** Folds unchanged lines, by default. Only a mouse can unfold them. */
  readonly isCollapsed?: boolean
  /** The accessible name. */
  readonly label: string
}
