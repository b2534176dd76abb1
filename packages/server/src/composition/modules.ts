import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { StandardModuleName } from "@hamlet/contract"
import { resolveMapped } from "@hamlet/contract/import-map"
import { prepareOnce, traceTask } from "@hamlet/kit"
import { readTypes } from "@hamlet/npm"
import { toScript } from "@hamlet/sandbox"
import { createListPackages, findImplicit } from "../domain/modules/imports/text-packages.ts"
import type { DependencyResolver } from "../domain/modules/lockfiles.ts"
import { createPendingLockfiles } from "../domain/modules/pending-lockfiles.ts"
import { hasRemoteImports, listRemoteImports } from "../domain/modules/remote-imports.ts"
import type { StandardModules } from "../domain/modules/standard-modules.ts"
import { createSources } from "../domain/vals/val-source.ts"
import { createDependencyJob } from "../jobs/dependency-job.ts"
import { CodeTools } from "../runtime/parser/code-tools.ts"
import { createLockfileClaims } from "../storage/modules/lockfile-claims.ts"
import type { Foundation } from "./foundation.ts"
import type { Stores } from "./stores.ts"

/** How long a run waits for packages that are still being fetched. */
const packagesMsMax = 30_000

/** The parser of the vals' code, and the job that fetches the packages that they import. */
export function composeModules(
  foundation: Foundation,
  stores: Stores,
  resolver: DependencyResolver | null,
) {
  const { config, db, nodeId, lockfilesSince, log, now, onErrorOf } = foundation
  const codeTools = new CodeTools({
    isolation: config.isolation,
    onFailure: (report) => log.warn("parser_gave_up", report),
    onWeak: (message) => onErrorOf("parser")(new Error(message)),
  })
  const importHosts = {
    baseUrls: [config.baseUrl, ...config.formerBaseUrls],
    fetchesTown: config.dependencies.fetchesTown,
  }
  const retry = async (branchId: string, version: number) => {
    await stores.lockfiles.reopen(branchId, version, now())
    dependencyJob?.wake()
  }
  const pendingLockfiles = createPendingLockfiles(stores.lockfiles, now, {
    retry,
    // The run needs time of its own after the wait.
    waitMsMax: Math.min(packagesMsMax, config.runs.runMsMax / 2),
  })
  const { resolveMsMax } = config.dependencies
  const dependencyJob: ReturnType<typeof createDependencyJob> | null =
    resolver &&
    createDependencyJob({
      lockfileClaims: createLockfileClaims(db, nodeId),
      files: stores.versionFiles,
      pendingLockfiles,
      // Resolving the packages of a saved version is a trace of its own; for unsaved code it is a
      // part of the trace of the request that waits.
      resolver: {
        resolve: traceTask(foundation, "resolve packages", "internal", (source) =>
          resolver.resolve(source),
        ),
      },
      resolveMsMax,
      now,
      onError: onErrorOf("packages"),
      async listPackages({ path, code }, ownerId, config, local) {
        if (local === undefined) return undefined
        const [specifiers, written] = await Promise.all([
          codeTools.scanImports(code, ownerId),
          codeTools.scanPlaces(code, ownerId),
        ])
        const known = new Set(local)
        const isRemote = hasRemoteImports(code, specifiers, importHosts, known)
        const text = { code, specifiers, isRemote, local: known, written }
        return createListPackages(importHosts, text)(path, config)
      },
      listRemoteImports: async ({ path, code }, ownerId, config, local) => [
        ...listRemoteImports(
          code,
          await codeTools.scanImports(code, ownerId),
          importHosts,
          local && new Set(local),
          (specifier) => (config && resolveMapped(config.map, specifier, path)) ?? specifier,
        ),
        ...findImplicit(config, code, path).map(({ specifier }) => specifier),
      ],
    })
  const lockfileWork = dependencyJob ?? { wake() {} }
  return {
    codeTools,
    dependencyJob,
    sources: createSources(codeTools, importHosts, stores.vals),
    fetching: { resolver, lockfileWork, pendingLockfiles, lockfilesSince, readTypes },
  }
}

/** The standard library in TypeScript. */
export function readStandardModules(): StandardModules {
  return fromStandardFiles((path) => readFileSync(path, "utf8"))
}

/** The standard library in JavaScript. It is compiled when a val first imports some of it. */
export function createStandardScripts(): () => Promise<StandardModules> {
  return prepareOnce(async () => {
    const compiled = Object.entries(fromStandardFiles(toScript))
    const entries = compiled.map(async ([name, script]) => [name, await script] as const)
    return Object.fromEntries(await Promise.all(entries)) as StandardModules
  })
}

/** Modules cannot import each other, since each is there under any of its addresses. */
function fromStandardFiles<T>(read: (path: string) => T): Readonly<Record<StandardModuleName, T>> {
  const from = (name: string) => read(fileURLToPath(import.meta.resolve(`@hamlet/std/${name}`)))
  const [blob, sqlite] = [from("blob"), from("sqlite")]
  return {
    API_URL: from("api-url"),
    blob,
    // Their own addresses tell these modules that they are for the storage of the val.
    "blob/main": blob,
    email: from("email"),
    fetch: from("fetch"),
    openai: from("openai"),
    rpc: from("rpc"),
    sqlite,
    "sqlite/main": sqlite,
    // Val Town has two names for one client.
    sqlite2: sqlite,
    utils: from("val-files"),
  }
}
