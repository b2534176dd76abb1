import type { CodeStyle } from "../../domain/modules/format-code.ts"

/** The request of the format tool: JSON on its standard input. */
export interface FormatRequest {
  readonly code: string
  readonly style: CodeStyle
  /** Longer results are refused. */
  readonly codeCharsMax: number
}

/** Its response: JSON on its standard output. */
export type FormatResponse =
  | { readonly kind: "formatted"; readonly code: string }
  | { readonly kind: "refused"; readonly reason: string }
