/**
 * The packages that code imports, from npm, JSR and other servers: resolved once, bundled into one
 * script, with their types. None of them is run, and all that reads them is in a sandbox.
 *
 * ```ts
 * import { PackageResolver, plainRules, resolverLimits } from "@hamlet/npm"
 * import { FakeRegistry, openForwardingProxy } from "@hamlet/npm/testing"
 * import { openSandboxes } from "@hamlet/sandbox/testing"
 *
 * const registry = new FakeRegistry()
 * registry.publish("greet", "1.2.3", { "index.js": "exports.hello = (name) => 'Hello ' + name" })
 * const { sandboxes, ...open } = await openSandboxes({})
 * const resolver = new PackageResolver({
 *   sandboxes: async () => sandboxes,
 *   rules: plainRules,
 *   npmRegistry: registry.npmUrl,
 *   jsrUrl: registry.jsrUrl,
 *   openEgress: (path, { note }) => openForwardingProxy(path, note),
 *   limits: resolverLimits,
 *   onError: console.error,
 * })
 * const code = 'import { hello } from "npm:greet@1"; import "npm:absent"'
 * const files = [{ path: "main.ts", code }]
 * const { signal } = new AbortController()
 * const found = await resolver.resolve({ files, given: null, accountId: "ada", signal })
 * const [greet, absent] = found.imports
 * console.log(greet?.resolved, greet?.exports.join()) // npm:greet@1.2.3 default,hello
 * console.log(absent?.error) // there is no package "absent" in the registry
 * console.log(new TextDecoder().decode(found.bundle?.code).includes("Hello ")) // true
 * await resolver.stop()
 * await registry.stop()
 * await open[Symbol.asyncDispose]()
 * ```
 */

export { findRegistry } from "./find-registry.ts"
export type { ImportRules, RulesProgram } from "./import-rules.ts"
export { plainRules } from "./import-rules.ts"
export { PackageResolver, type ResolverOptions, type ResolverRequest } from "./package-resolver.ts"
export { readTypes } from "./read-types.ts"
export type {
  Bundle,
  ImportPlace,
  PackageTypes,
  ResolvedImport,
  ResolvedPackages,
  SourceFile,
} from "./resolved-packages.ts"
export { resolverLimits } from "./resolver-limits.ts"
export { findClauseEnd, skipTrivia } from "./tool/scan-code.ts"
