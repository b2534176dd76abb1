export interface DiffViewProps {
  readonly before: string
  readonly after: string
  /** Side by side needs a wide screen. */
  readonly layout: "inline" | "side-by-side"
  /** What the document is called, as `ada/hello.tsx`; its ending tells the language. */
  readonly path: string
  /**
   * Whether what is the same is folded away, which it is unless this is false. Only a mouse can
   * unfold it, so have a button for all of it.
   */
  readonly isCollapsed?: boolean
  /** The name of the view for those who do not see it. */
  readonly label: string
}
