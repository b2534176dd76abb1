/** All options but `macro`. */
type SafeTranspilerOptions = Omit<Bun.TranspilerOptions, "macro">

/**
 * Creates a `Bun.Transpiler` for users' code. Always use this function: without `macro: false`, an
 * import with the attribute `type: "macro"` **runs** what it imports, inside the transpiler. The
 * code `import { execSync } from "node:child_process" with { type: "macro" }` is then a remote
 * shell. The flag `--no-macros` does not apply to this class. The implementation accepts `false`,
 * which the type does not.
 */
export function createTranspiler(options: SafeTranspilerOptions): Bun.Transpiler {
  return new Bun.Transpiler({
    // Other targets drop `with { type: "json" }`, and replace `using` by helpers that only Bun has.
    target: "bun",
    deadCodeElimination: false,
    // At other levels a warning is thrown like an error.
    logLevel: "error",
    // Classic JSX is what vals use when they run without a pragma. It also avoids a warning in
    // `scanImports` that no log level suppresses.
    tsconfig: { compilerOptions: { jsx: "react" } },
    ...options,
    macro: false as unknown as Bun.MacroMap,
  })
}
