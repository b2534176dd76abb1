/** How the JSX of a version is compiled, as its deno.json says: what the text of a file lacks. */
export type CompilerSettings =
  | { readonly jsx: "automatic"; readonly importSource: string }
  | {
      readonly jsx: "classic"
      readonly factory: string | undefined
      readonly fragmentFactory: string | undefined
    }

/** The settings in a deno.json that was parsed, and what is wrong with them. */
export function readCompilerSettings(options: Readonly<Record<string, unknown>>): {
  readonly settings: CompilerSettings | undefined
  readonly warnings: readonly string[]
} {
  const warnings: string[] = []
  const read = (name: string, pattern: RegExp): string | undefined => {
    const value = options[name]
    if (value === undefined) return undefined
    if (typeof value === "string" && pattern.test(value)) return value
    warnings.push(`compilerOptions.${name} is ignored: it is not valid`)
    return undefined
  }
  const jsx = read("jsx", jsxPattern)
  const importSource = read("jsxImportSource", sourcePattern)
  const factory = read("jsxFactory", factoryPattern)
  const fragmentFactory = read("jsxFragmentFactory", factoryPattern)
  const isAutomatic = jsx === undefined ? importSource !== undefined : automatic.has(jsx)
  if (isAutomatic)
    return { settings: { jsx: "automatic", importSource: importSource ?? "react" }, warnings }
  const isClassic = factory !== undefined || fragmentFactory !== undefined
  return {
    settings: isClassic ? { jsx: "classic", factory, fragmentFactory } : undefined,
    warnings,
  }
}

const jsxPattern = /^(?:preserve|react|react-native|react-jsx|react-jsxdev|precompile)$/
/** Values of `jsx` that import what they need; they differ in speed and in error messages. */
const automatic = new Set(["react-jsx", "react-jsxdev", "precompile"])
/** The import source becomes part of a comment. */
const sourcePattern = /^[^\s*"'`\\]{1,200}$/
const factoryPattern = /^[\w$]+(?:\.[\w$]+)*$/

/**
 * The comment that gives a file the settings, before its first character; empty if it does not need
 * them. Comments of the file win.
 */
export function toPragma(settings: CompilerSettings | undefined, code: string): string {
  if (settings === undefined || !needsPragma(code)) return ""
  if (settings.jsx === "automatic") {
    // An address of a mapping may end the comment.
    const { importSource } = settings
    return importSource.includes("*/") ? "" : `/** @jsxImportSource ${importSource} */`
  }
  const { factory, fragmentFactory } = settings
  return `${factory === undefined ? "" : `/** @jsx ${factory} */`}${fragmentFactory === undefined ? "" : `/** @jsxFrag ${fragmentFactory} */`}`
}

/** Whether the text may have JSX and does not say how it is compiled. */
function needsPragma(code: string): boolean {
  // Nothing may be before a `#!`.
  return mayHaveJsx(code) && !pragmaPattern.test(code) && !code.startsWith("#!")
}

const pragmaPattern = /@jsx(?:ImportSource|Runtime|Frag)?\s+\S/

/** Whether code may have JSX. A false is exact. */
export function mayHaveJsx(code: string): boolean {
  return /<\s*[A-Za-z_$>]/.test(code)
}
