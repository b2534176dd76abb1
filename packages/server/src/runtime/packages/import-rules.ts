import { fileURLToPath } from "node:url"
import type { ValConfig } from "@hamlet/contract/deno-json"
import { listTargets, resolveMapped } from "@hamlet/contract/import-map"
import { standardModuleNames } from "@hamlet/contract/standard-modules"
import type { ImportRules, RulesProgram } from "@hamlet/npm"
import type { ImportHosts } from "../../domain/modules/import-address.ts"
import { findImportProblem } from "../../domain/modules/import-problem.ts"
import { findImplicit } from "../../domain/modules/imports/text-packages.ts"
import { isRemoteImport } from "../../domain/modules/remote-imports.ts"
import { type StandardModules, toStandardName } from "../../domain/modules/standard-modules.ts"

/** What the imports of a version depend on, beside its code. */
export interface ImportFacts {
  /** Imports from these hosts are not remote. */
  readonly importHosts: ImportHosts
  /** Modules of other servers import them as well: those of their own server would not work here. */
  readonly standardModules: StandardModules
  /** The settings of the version; null if it has none. */
  readonly config: ValConfig | null
  /** The specifiers of vals on this server; undefined when every address of a val is one. */
  readonly local: readonly string[] | undefined
}

/** What the specifiers in vals mean, for the host and for the tool beside this file. */
export const importRules: RulesProgram<ImportFacts> = {
  create: createImportRules,
  toolPath: fileURLToPath(new URL("./resolve-tool.ts", import.meta.url)),
}

export function createImportRules(facts: ImportFacts): ImportRules {
  const { importHosts, standardModules } = facts
  const config = facts.config ?? undefined
  const local = facts.local && new Set(facts.local)
  return {
    toMeaning: (specifier, path) =>
      (config && resolveMapped(config.map, specifier, path)) ?? specifier,
    listImplicit: ({ path, code }) =>
      findImplicit(config, code, path).map(({ specifier }) => specifier),
    isRemote: (specifier) => isRemoteImport(specifier, importHosts, local),
    findProblem: (specifier) => findImportProblem(specifier, importHosts),
    findReplacement(url) {
      const name = toStandardName(url, importHosts)
      return name && standardModules[name]
    },
    describeMissing,
    targets: config ? listTargets(config.map) : [],
  }
}

/** A val of esm.town that is neither here nor there. */
function describeMissing(url: string): string | undefined {
  const [, user, val] = /^https:\/\/esm\.town\/v\/@?(\w+)\/(\w+)/.exec(url) ?? []
  if (user === undefined) return undefined
  return user === "std"
    ? `this server has no standard module "${val}" (it has ${standardModuleNames.join(", ")})`
    : `there is no val "${user}/${val}" on this server`
}
