/** Transpiler options without the one that must not be chosen. */
type SafeTranspilerOptions = Omit<Bun.TranspilerOptions, "macro">

/**
 * The only way to get a `Bun.Transpiler` for people's code. Without `macro: false` an import with
 * the attribute `type: "macro"` **runs** what it imports, inside the transpiler: `import { execSync
 * } from "node:child_process" with { type: "macro" }` is then a remote shell. The flag
 * `--no-macros` does not cover this class, and the type of the option does not know `false`, which
 * the implementation does.
 */
export function createTranspiler(options: SafeTranspilerOptions): Bun.Transpiler {
  return new Bun.Transpiler({
    // This target leaves alone what the others lower with helpers that only Bun has, or drop:
    // `using`, `with { type: "json" }`.
    target: "bun",
    deadCodeElimination: false,
    // A warning would otherwise be thrown like an error.
    logLevel: "error",
    // Classic JSX is what vals get when they run, unless they have a pragma. It also spares
    // `scanImports` a warning that no level stops.
    tsconfig: { compilerOptions: { jsx: "react" } },
    ...options,
    macro: false as unknown as Bun.MacroMap,
  })
}
