import { createTranspiler } from "./create-transpiler.ts"

/**
 * The specifiers of static and dynamic imports and of re-exports, in order and each once. Type-only
 * imports are left out; unused imports are not. Code that does not parse has none. Bun misses
 * dynamic imports whose specifier is empty or not ASCII, which addresses of vals never are.
 */
export function scanImports(code: string): string[] {
  for (const scan of scanners) {
    const found = attempt(() => scan(code))
    // The scanner adds the JSX runtime as a `require`, which is not in the code.
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
 * `<string>value` parses only without JSX. The fast scanner does not support some newer syntax
 * (`accessor` fields); the full parser refuses code that the fast one accepts (macros). So both are
 * tried.
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
