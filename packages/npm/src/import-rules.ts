import { fileURLToPath } from "node:url"
import type { SourceFile } from "./resolved-packages.ts"

/** What the specifiers of code mean to the caller. */
export interface ImportRules {
  /** What a specifier in a file stands for. */
  toMeaning(specifier: string, path: string): string
  /** What a file imports without naming it, such as the runtime of JSX. */
  listImplicit(file: SourceFile): readonly string[]
  /** Whether what a specifier means is fetched and bundled. All others are left in the code. */
  isRemote(specifier: string): boolean
  /** Why it can never be imported, as a sentence. */
  findProblem(specifier: string): string | undefined
  /** The TypeScript that takes the place of the module at a URL. */
  findReplacement(url: URL): string | undefined
  /** What the caller does not have either, if a URL cannot be fetched: a sentence. */
  describeMissing(url: string): string | undefined
  /** Specifiers that files may mean without having them in their text. */
  readonly targets: readonly string[]
}

/**
 * Rules for the host, and the tool that applies them in its sandbox: a program that calls `serveResolve`
 * with the same function. `Given` is JSON.
 */
export interface RulesProgram<Given> {
  create(given: Given): ImportRules
  readonly toolPath: string
}

/** Packages and modules of other servers are remote, and a specifier means itself. */
export const plainRules: RulesProgram<null> = {
  create: createPlainRules,
  toolPath: fileURLToPath(new URL("./tool/plain-tool.ts", import.meta.url)),
}

export function createPlainRules(): ImportRules {
  return {
    toMeaning: (specifier) => specifier,
    listImplicit: () => [],
    isRemote: (specifier) => /^\s*(?:npm|jsr|https?):/i.test(specifier),
    findProblem: () => undefined,
    findReplacement: () => undefined,
    describeMissing: () => undefined,
    targets: [],
  }
}
