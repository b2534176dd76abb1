import { createTranspiler } from "./create-transpiler.ts"

/**
 * The specifiers of static and dynamic imports and of re-exports, in order and each once. Type-only
 * imports are left out, unused ones are not: what the code names matters, not what it uses. Code
 * that does not parse has none. Bun overlooks a dynamic import whose specifier is empty or not
 * ASCII; no address of a val is either.
 */
export function scanImports(code: string): string[] {
  for (const scan of scanners) {
    const found = attempt(() => scan(code))
    // The scanner adds the JSX runtime as a `require`, which nobody wrote.
    const written = found?.filter(
      ({ kind }) => kind === "import-statement" || kind === "dynamic-import",
    )
    if (written) return [...new Set(written.map(({ path }) => path))]
  }
  return []
}

const options = { trimUnusedImports: false }
const tsx = createTranspiler({ ...options, loader: "tsx" })
const ts = createTranspiler({ ...options, loader: "ts" })

/**
 * `<string>value` parses only without JSX. The fast scan does not know some newer syntax
 * (`accessor` fields) that the full parser knows, but the full parser refuses things that the fast
 * one ignores (macros), so neither replaces the other.
 */
const scanners: readonly ((code: string) => readonly Bun.Import[])[] = [
  (code) => tsx.scanImports(code),
  (code) => ts.scanImports(code),
  (code) => tsx.scan(code).imports,
  (code) => ts.scan(code).imports,
]

function attempt<Result>(run: () => Result): Result | undefined {
  try {
    return run()
  } catch {
    return undefined
  }
}
