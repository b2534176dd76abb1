import { toOwnJson } from "@hamlet/kit"
import type { ProgramModule } from "@hamlet/sandbox"

/** An import of `node:module`, found as text: a parser would take longer than it is worth here. */
const importPattern = /(\bfrom\s*|\bimport\s*(?:\(\s*)?)(["'])(?:node:)?module\2/g

/**
 * Lets vals call `createRequire(import.meta.url)`. Node accepts only paths of files, and a named
 * export of `node:module` cannot be replaced, so the vals import another module in its place, which
 * has the function that the guest has replaced.
 */
export function linkRequire(
  modules: readonly ProgramModule[],
  baseUrl: string,
): readonly ProgramModule[] {
  if (!modules.some(({ code }) => code.includes("createRequire"))) return modules
  const url = `${baseUrl}/packages/node/module`
  const linked = modules.map((module) => ({
    ...module,
    code: module.code.includes("createRequire")
      ? module.code.replace(importPattern, (_, before: string) => before + toOwnJson(url))
      : module.code,
  }))
  return [...linked, { url, code: replacement, type: "js" as const }]
}

const replacement = `import module from "node:module"
export * from "node:module"
export { module as default }
export const createRequire = module.createRequire
`
