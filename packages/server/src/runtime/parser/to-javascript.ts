import { createTranspiler } from "./create-transpiler.ts"
import type { ParseResponse } from "./parser-messages.ts"
import { scanImports } from "./scan-imports.ts"

/**
 * Converts TypeScript or TSX to a module for browsers, by the same rules as when the val runs:
 * removes types and the imports of which no value is used, and keeps other specifiers as they are.
 * JSX becomes `React.createElement`, or what `@jsx` and `@jsxFrag` name, or imports from
 * `{@jsxImportSource}/jsx-runtime`.
 *
 * Limits: decorators and `accessor` are refused, and `export … from "x.json" with { type: "json" }`
 * loses its attribute.
 */
export function toJavaScript(code: string): ParseResponse {
  const transpilers = importSourcePattern.test(code) ? [automatic, plain] : [classic, plain]
  const failures: Failure[] = []
  for (const transpiler of transpilers) {
    try {
      return refuseHelpers(transpiler.transformSync(code))
    } catch (error) {
      failures.push(toFailure(error))
    }
  }
  return { kind: "refused", message: describe(failures) }
}

const options = {
  // Otherwise the module imports types like values, and the browser refuses it.
  trimUnusedImports: true,
  autoImportJSX: true,
  // In a browser no module is the main one. Without this, Bun writes an expression with `require`.
  define: {
    "process.env.NODE_ENV": '"production"',
    "process.browser": "true",
    "import.meta.main": "false",
  },
}
const classic = createTranspiler({ ...options, loader: "tsx" })
const automatic = createTranspiler({
  ...options,
  loader: "tsx",
  tsconfig: { compilerOptions: { jsx: "react-jsx" } },
})
/** For `<string>value`, which does not parse as TSX. */
const plain = createTranspiler({ ...options, loader: "ts" })

/** The transpiler ignores the pragma. Code that mentions it outside of a comment is rare. */
const importSourcePattern = /@jsxImportSource\s+\S/

const helperModule = "bun:wrap"

/** Bun compiles decorators to calls of built-in helpers, which browsers cannot load. */
function refuseHelpers(code: string): ParseResponse {
  if (code.includes(helperModule) && scanImports(code).includes(helperModule)) {
    return {
      kind: "refused",
      message: "decorators and accessor fields are not supported in modules for browsers",
    }
  }
  return { kind: "javascript", code }
}

interface Failure {
  readonly message: string
  readonly position: { readonly line: number; readonly offset: number } | null
}

/** One error is thrown as a `BuildMessage`, several as an `AggregateError`, others as an `Error`. */
function toFailure(error: unknown): Failure {
  const first = error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error
  if (first instanceof BuildMessage) return first
  return { message: first instanceof Error ? first.message : String(first), position: null }
}

/** The error of the attempt that got furthest. */
function describe(failures: readonly Failure[]): string {
  const best = failures.reduce((one, other) =>
    (other.position?.offset ?? -1) > (one.position?.offset ?? -1) ? other : one,
  )
  return best.position ? `${best.message} (line ${best.position.line})` : best.message
}
