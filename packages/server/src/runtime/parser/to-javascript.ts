import { createTranspiler } from "./create-transpiler.ts"
import type { ParseResponse } from "./parser-messages.ts"
import { scanImports } from "./scan-imports.ts"

/**
 * TypeScript or TSX as a module for a browser, to the same rules as when the val runs: types go,
 * and with them every import of which no value is used; the other specifiers stay as they are. JSX
 * becomes `React.createElement`, or what `@jsx` and `@jsxFrag` name, or imports from
 * `{@jsxImportSource}/jsx-runtime`.
 *
 * What it cannot do: decorators and `accessor` are refused, and `export … from "x.json" with {
 * type: "json" }` loses its attribute.
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
  // Otherwise the names of types are imported as if they were values, and the browser refuses the
  // module.
  trimUnusedImports: true,
  autoImportJSX: true,
  // In a browser no module is the main one. Left to itself, Bun writes an expression with `require`
  // here.
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
/** For `<string>value`, which does not parse where JSX does. */
const plain = createTranspiler({ ...options, loader: "ts" })

/**
 * The pragma alone does not switch the transpiler over. A mention outside a comment does so
 * wrongly; a val that writes one is rare.
 */
const importSourcePattern = /@jsxImportSource\s+\S/

const helperModule = "bun:wrap"

/** Bun lowers decorators to calls of helpers that it has built in and no browser can load. */
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

/**
 * One mistake is thrown as a `BuildMessage`, several as an `AggregateError`, anything else (a stack
 * overflow) as an `Error`.
 */
function toFailure(error: unknown): Failure {
  const first = error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error
  if (first instanceof BuildMessage) return first
  return { message: first instanceof Error ? first.message : String(first), position: null }
}

/** The attempt that got furthest understood the code best. */
function describe(failures: readonly Failure[]): string {
  const best = failures.reduce((one, other) =>
    (other.position?.offset ?? -1) > (one.position?.offset ?? -1) ? other : one,
  )
  return best.position ? `${best.message} (line ${best.position.line})` : best.message
}
