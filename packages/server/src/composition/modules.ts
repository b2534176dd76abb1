import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { StandardModuleName } from "@hamlet/contract"
import type { DependencyResolver } from "../domain/modules/lockfiles.ts"
import { createPendingLockfiles } from "../domain/modules/pending-lockfiles.ts"
import { listRemoteImports } from "../domain/modules/remote-imports.ts"
import type { StandardModules } from "../domain/modules/standard-modules.ts"
import { DependencyJob } from "../jobs/dependency-job.ts"
import { readTypes } from "../runtime/dependencies/read-types.ts"
import { toScript } from "../runtime/sandbox/commands/bundle-program.ts"
import { createBundleStore } from "../storage/modules/bundles.ts"
import { createImportStore } from "../storage/modules/imports.ts"
import { createLockfileStore } from "../storage/modules/lockfiles.ts"
import type { Foundation } from "./foundation.ts"
import type { createVals } from "./vals.ts"

/** How long a run waits for packages that are still being fetched. */
const packagesMsMax = 30_000

/** What vals import: other vals, standard modules, and packages with their lockfiles. */
export function createModules(
  { config, db, lockfilesSince, now, onError }: Foundation,
  { versions, codeTools }: ReturnType<typeof createVals>,
  resolver: DependencyResolver | null,
) {
  const lockfiles = createLockfileStore(db)
  const importHosts = {
    baseUrls: [config.baseUrl, ...config.formerBaseUrls],
    fetchesTown: config.dependencies.fetchesTown,
  }
  const imports = createImportStore(db)
  // The run needs time of its own after the wait.
  const pendingLockfiles = createPendingLockfiles(lockfiles, now, {
    waitMsMax: Math.min(packagesMsMax, config.runs.runMsMax / 2),
  })
  const { resolveMsMax } = config.dependencies
  const dependencyJob =
    resolver &&
    new DependencyJob({
      ...{ lockfiles, versions, imports, pendingLockfiles, resolver, resolveMsMax, now, onError },
      listRemoteImports: async ({ code, ownerId }, local) =>
        listRemoteImports(
          code,
          await codeTools.scanImports(code, ownerId),
          importHosts,
          local && new Set(local),
        ),
    })
  return {
    imports,
    bundles: createBundleStore(db),
    readTypes,
    standardModules: readStandardModules(),
    standardScripts: createStandardScripts(),
    ...{ lockfiles, importHosts, pendingLockfiles, resolver, resolveMsMax, dependencyJob },
    lockfilesSince: lockfilesSince,
    lockfileWork: dependencyJob ?? { wake() {} },
  }
}

/** The standard library in TypeScript. */
export function readStandardModules(): StandardModules {
  return fromStandardFiles((path) => readFileSync(path, "utf8"))
}

/** The standard library in JavaScript. It is compiled when a val first imports some of it. */
function createStandardScripts(): () => Promise<StandardModules> {
  let scripts: Promise<StandardModules> | undefined
  const compile = async () => {
    const compiled = Object.entries(fromStandardFiles(toScript))
    const entries = compiled.map(async ([name, script]) => [name, await script] as const)
    return Object.fromEntries(await Promise.all(entries)) as StandardModules
  }
  return () => (scripts ??= compile())
}

function fromStandardFiles<T>(read: (path: string) => T): Readonly<Record<StandardModuleName, T>> {
  const from = (name: string) => read(fileURLToPath(import.meta.resolve(`@hamlet/std/${name}`)))
  const sqlite = from("sqlite")
  return {
    API_URL: from("api-url"),
    blob: from("blob"),
    email: from("email"),
    fetch: from("fetch"),
    openai: from("openai"),
    sqlite,
    // Both are Val Town's names for one client: modules cannot import each other, since each is
    // there under any of its addresses.
    sqlite2: sqlite,
    utils: from("val-files"),
  }
}
