import type { Caller } from "../access/caller.ts"
import { AppError } from "../app-error.ts"

/** How code is formatted, where there is a choice. */
export interface CodeStyle {
  readonly semicolons: boolean
  readonly quotes: "double" | "single"
}

/** Formats code of users, in a sandbox. */
export interface CodeFormatter {
  /** Fails with `overloaded` or `sandbox_unavailable`. */
  format(code: string, style: CodeStyle, ownerId: string): Promise<FormatOutcome>
}

/** The formatted code, or why there is none, as a part of a sentence. */
export type FormatOutcome =
  | { readonly kind: "formatted"; readonly code: string }
  | { readonly kind: "refused"; readonly reason: string }

/** Formats code for callers. */
export type Formatting = ReturnType<typeof createFormatting>

/** Creates the rules of formatting. */
export function createFormatting(formatter: CodeFormatter) {
  return {
    /** Formats code. Fails with `module_not_parsable` for code that does not parse. */
    async format({ ownerId }: Caller, code: string, style: CodeStyle): Promise<string> {
      const outcome = await formatter.format(code, style, ownerId)
      if (outcome.kind === "formatted") return outcome.code
      throw new AppError("module_not_parsable", `Cannot format the code: ${outcome.reason}`)
    },
  }
}
