import type { PackageResolver } from "@hamlet/npm"
import { toTextKey } from "../../domain/modules/imports/config-keys.ts"
import type { DependencyResolver } from "../../domain/modules/lockfiles.ts"
import type { ImportFacts } from "./import-rules.ts"

/** Resolves the packages of versions. Places are those of texts: files move, and texts do not. */
export function createVersionPackages(
  resolver: Pick<PackageResolver<ImportFacts>, "resolve">,
  facts: Pick<ImportFacts, "importHosts" | "standardModules">,
): DependencyResolver {
  return {
    async resolve({ files, config, ownerId, local, signal }) {
      const given = { ...facts, config: config ?? null, local }
      const found = await resolver.resolve({ files, given, accountId: ownerId, signal })
      const texts = files.map(({ path, code }) => toTextKey(code, path, config))
      const imports = found.imports.map((one) => ({
        ...one,
        places: one.places.map(({ file, start, end }) => ({
          text: texts[file] as string,
          start,
          end,
        })),
      }))
      return { ...found, imports }
    },
  }
}
