import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { parse } from "cjs-module-lexer"
import type {
  BuildFailure,
  BuildOptions,
  Metafile,
  OnLoadResult,
  Plugin,
  PluginBuild,
} from "esbuild"
import { build } from "esbuild"
import { toBuildOptions } from "./build-options.ts"
import type { BundledPackages } from "./bundle-packages.ts"
import { canBundle } from "./bundle-plugin.ts"
import { readObjectKeys } from "./read-object-keys.ts"
import type { RemoteModules } from "./remote-modules.ts"

/**
 * The names that each specifier exports. esbuild does not know the exports of CommonJS. So each
 * CommonJS module is replaced by an ES module with the names that Node would find in it. `inputs`
 * tell which modules are CommonJS.
 */
export async function listExports(
  modules: RemoteModules,
  specifiers: readonly string[],
  { inputs, absent }: Pick<BundledPackages, "inputs" | "absent">,
  folder: string,
): Promise<readonly (readonly string[])[]> {
  const all = Object.entries(inputs).filter(([, { format }]) => format === "cjs")
  const standIns: StandIns = {
    paths: new Set(all.map(([path]) => resolve(folder, path))),
    more: new Map(),
  }
  const options: BuildOptions & { metafile: true } = {
    ...toBuildOptions(folder),
    format: "esm",
    plugins: [createPlugin(modules, specifiers, standIns, absent)],
    entryPoints: specifiers.map((_, index) => ({
      in: `hamlet:entry/${index}`,
      out: `entry-${index}`,
    })),
  }
  for (let round = 0; round < roundsMax; round++) {
    const built = await build(options).catch((error: BuildFailure) => error)
    if (!(built instanceof Error))
      return specifiers.map((_, index) =>
        findExports(built.metafile, resolve(folder, `entry-${index}.js`), folder),
      )
    if (!addMissing(standIns, built, folder)) break
  }
  // The default export contains everything.
  return specifiers.map(() => ["default"])
}

/** A missing name in one module may be found only when another is complete. */
const roundsMax = 5

interface StandIns {
  readonly paths: Set<string>
  /** Names that other modules import from there, although they were not found there. */
  readonly more: Map<string, Set<string>>
}

function findExports(metafile: Metafile, path: string, folder: string): readonly string[] {
  const found = Object.entries(metafile.outputs).find(([name]) => resolve(folder, name) === path)
  return found?.[1].exports ?? []
}

/**
 * Adds names that other modules import from CommonJS modules: in a bundle that is not an error.
 * Returns false when the build failed for another reason.
 */
function addMissing({ more }: StandIns, { errors }: BuildFailure, folder: string): boolean {
  for (const { text } of errors) {
    const [, file, name] = /^No matching export in "(.+)" for import "(.+)"$/.exec(text) ?? []
    if (file === undefined || name === undefined) return false
    const path = resolve(folder, file)
    more.set(path, (more.get(path) ?? new Set()).add(name))
  }
  return errors.length > 0
}

function createPlugin(
  modules: RemoteModules,
  specifiers: readonly string[],
  standIns: StandIns,
  absent: BundledPackages["absent"],
): Plugin {
  return {
    name: "exports",
    setup(plugin) {
      plugin.onResolve({ filter: /^hamlet:entry\// }, ({ path }) => {
        const index = Number(path.slice("hamlet:entry/".length))
        return modules.resolve(plugin, specifiers[index] ?? "")
      })
      plugin.onResolve({ filter: /./ }, (args) =>
        absent.get(args.importer)?.has(args.path)
          ? { path: args.path, external: true }
          : modules.resolveFrom(plugin, args),
      )
      modules.addPackageModules(plugin)
      plugin.onLoad({ filter: /\.(?:json|node)$/ }, () => ({
        contents: "export default 0",
        loader: "js",
      }))
      plugin.onLoad({ filter: /./, namespace: "file" }, async ({ path }) => {
        const loaded = modules.load(path)
        if (loaded?.loader === "json" || (!loaded && !canBundle(path)))
          return { contents: "export default 0", loader: "js" }
        return (
          loaded ?? (standIns.paths.has(path) ? await toStandIn(plugin, path, standIns) : undefined)
        )
      })
    },
  }
}

/** Adds `default`, which every CommonJS module has and `export *` leaves out. */
async function toStandIn(
  plugin: PluginBuild,
  path: string,
  standIns: StandIns,
): Promise<OnLoadResult> {
  const { exports, reexports } = readNames(path)
  const resolveDir = resolve(path, "..")
  const found = await Promise.all(
    reexports.map((name) =>
      plugin.resolve(name, { kind: "require-call", resolveDir, importer: path }),
    ),
  )
  const stars = found.filter(
    ({ errors, external, path: target }) => errors.length === 0 && !external && target !== path,
  )
  // The bundle may not contain it: Node uses the last file that is required, even if it is the one
  // for development.
  for (const one of stars) if (/\.c?js$/.test(one.path)) standIns.paths.add(one.path)
  const names = [...new Set([...exports, ...(standIns.more.get(path) ?? []), "default"])].filter(
    (name) => name.isWellFormed(),
  )
  const lines = [
    ...stars.map((one) => `export * from ${JSON.stringify(one.path)}`),
    `export { ${names.map((name) => `it as ${JSON.stringify(name)}`).join(", ")} }`,
  ]
  return { contents: `const it = 0\n${lines.join("\n")}`, loader: "js" }
}

/** The names that Node finds, and those that only Deno finds. */
function readNames(path: string): {
  readonly exports: readonly string[]
  readonly reexports: readonly string[]
} {
  const code = readFileSync(path, "utf8")
  const { keys, spreads } = readObjectKeys(code)
  try {
    const { exports, reexports } = parse(code)
    return { exports: [...exports, ...keys], reexports: [...new Set([...reexports, ...spreads])] }
  } catch {
    // The lexer may fail on code that runs. The default export always works.
    return { exports: keys, reexports: spreads }
  }
}
