/** A specifier in code: its literal with the quotes, or the source in a `@jsxImportSource` comment. */
export interface WrittenImport {
  readonly specifier: string
  /** In UTF-16 units. */
  readonly start: number
  readonly end: number
  /** The end of its import attributes, such as `with { type: "json" }`, if it has any. */
  readonly clauseEnd?: number
}
