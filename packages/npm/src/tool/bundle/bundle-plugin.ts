import { readFileSync } from "node:fs"
import { builtinModules } from "node:module"
import { extname, join } from "node:path"
import type {
  Loader,
  OnLoadResult,
  OnResolveArgs,
  OnResolveResult,
  Plugin,
  PluginBuild,
} from "esbuild"
import { locationNames } from "./build-options.ts"
import { type ComputedCall, locateModule, looksLikeModule } from "./locate-modules.ts"
import type { RemoteModules } from "./remote-modules.ts"

/** One import in a bundle. */
export interface Entry {
  readonly specifier: string
  /** Evaluated when it is first imported; others are evaluated with the bundle. */
  readonly isLazy: boolean
}

/** One attempt to bundle the entries, with what the earlier attempts have shown. */
export interface Pass {
  readonly entries: readonly Entry[]
  readonly folder: string
  readonly isAsync: boolean
  readonly absent: ReadonlyMap<string, ReadonlySet<string>>
  readonly calls: ReadonlyMap<string, readonly ComputedCall[]>
  readonly shared: ReadonlySet<string>
  /** Whether modules are ES modules, by their paths, as far as it is known. */
  readonly formats: ReadonlyMap<string, boolean>
  /** Filled by the pass: the modules that use their location, by their paths. */
  readonly located: Map<string, LocatedModule>
  /** Filled by the pass: the paths of the entries, by their index. */
  readonly entryPaths: string[]
}

/** A module that uses its location. */
export interface LocatedModule {
  readonly place: string
  readonly isModule: boolean
}

/** Kinds of virtual modules. */
export const namespaces = {
  main: "hamlet",
  /** A built-in module, for the format of ES modules. */
  builtIn: "hamlet-builtin",
  /** What a module imports that does not exist. */
  absent: "hamlet-absent",
} as const

/** Where npm packages are installed, relative to the working folder. */
export const installFolder = "node_modules/.deno"

/** Lets esbuild read the entries and everything that they import. */
export function createPackagesPlugin(modules: RemoteModules, pass: Pass): Plugin {
  return {
    name: "packages",
    setup(plugin) {
      const npmPaths: (string | undefined)[] = []
      plugin.onStart(async () => {
        const found = await Promise.all(
          pass.entries.map(({ specifier }) => modules.resolve(plugin, specifier)),
        )
        for (const [index, { path, external, errors }] of found.entries()) {
          if (errors && errors.length > 0) return { errors }
          pass.entryPaths[index] = path ?? ""
          // esbuild forgets the type of a package when a plugin resolves it.
          if (!external && !modules.has(path ?? "")) npmPaths[index] = path
        }
        return undefined
      })
      plugin.onResolve({ filter: /^hamlet:/ }, async ({ path }) => {
        const index = /^hamlet:entry\/(\d+)$/.exec(path)?.[1]
        if (index === undefined) return { path, namespace: namespaces.main }
        return await modules.resolve(plugin, pass.entries[Number(index)]?.specifier ?? "")
      })
      plugin.onResolve({ filter: /./ }, (args) => resolveImport(plugin, modules, pass, args))
      // The extension makes them ES modules as in Node, where the default export of a CommonJS
      // module is its `module.exports`.
      plugin.onLoad({ filter: /^hamlet:main\.mjs$/, namespace: namespaces.main }, () => ({
        contents: writeMain(pass, npmPaths),
        resolveDir: "/",
      }))
      plugin.onLoad({ filter: /^hamlet:shared\.mjs$/, namespace: namespaces.main }, () => ({
        contents: writeShared(pass),
        resolveDir: "/",
      }))
      plugin.onLoad({ filter: /^hamlet:lazy\//, namespace: namespaces.main }, ({ path }) => {
        const index = Number.parseInt(path.slice("hamlet:lazy/".length), 10)
        const contents = `import * as it from ${toLiteral(npmPaths, index)}; export { it }`
        return { contents, resolveDir: "/" }
      })
      addVirtualModules(plugin, modules)
      plugin.onLoad({ filter: /./, namespace: "file" }, ({ path }) => loadFile(modules, pass, path))
    },
  }
}

function addVirtualModules(plugin: PluginBuild, modules: RemoteModules): void {
  modules.addPackageModules(plugin)
  for (const namespace of [namespaces.builtIn, namespaces.absent])
    plugin.onLoad({ filter: /./, namespace }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(path)})`,
    }))
}

const builtIns = new Set(builtinModules)

async function resolveImport(
  plugin: PluginBuild,
  modules: RemoteModules,
  { absent, isAsync }: Pass,
  args: OnResolveArgs,
): Promise<OnResolveResult | undefined> {
  const { path, importer, namespace, kind } = args
  if (namespace === namespaces.builtIn || namespace === namespaces.absent)
    return { path, external: true }
  if (absent.get(importer)?.has(path))
    // The import fails when the importing module is evaluated; a call of `require` when it is made.
    return kind === "import-statement"
      ? { path, namespace: namespaces.absent }
      : { path, external: true }
  const found = await modules.resolveFrom(plugin, args)
  const target = found ? (found.external ? found.path : undefined) : path
  const isBuiltIn = target?.startsWith("node:") || builtIns.has(target ?? "")
  // A script in an async function cannot have import statements. A dynamic import becomes a call of
  // `require` in its place, where the module may have a variable of that name.
  const isOwnModule = kind === "dynamic-import" || (isAsync && kind !== "require-call")
  if (!isBuiltIn || !isOwnModule) return found
  return { path: target ?? path, namespace: namespaces.builtIn }
}

const scriptLoaders: Readonly<Record<string, Loader>> = {
  ".js": "js",
  ".cjs": "js",
  ".mjs": "js",
  ".jsx": "jsx",
  ".ts": "ts",
  ".cts": "ts",
  ".mts": "ts",
  ".tsx": "tsx",
}

/** Whether esbuild can bundle a file of that name. */
export function canBundle(path: string): boolean {
  return extname(path) in scriptLoaders || extname(path) === ".json" || extname(path) === ""
}

function loadFile(modules: RemoteModules, pass: Pass, path: string): OnLoadResult | undefined {
  const remote = modules.load(path)
  if (remote) {
    const place = modules.findUrl(path) ?? ""
    if (typeof remote.contents !== "string" || remote.loader === "json") return remote
    return { ...remote, contents: locate(pass, path, place, remote.contents) ?? remote.contents }
  }
  // Without bubblewrap, a package could otherwise include any file of the machine. esbuild has
  // resolved all links before.
  if (!path.startsWith(join(pass.folder, "/")))
    return { errors: [{ text: `Could not load "${path}"` }] }
  if (!canBundle(path)) return { contents: writeRefusal(path), loader: "js" }
  const root = join(pass.folder, installFolder, "/")
  const loader = scriptLoaders[extname(path) || ".js"]
  if (!loader || !path.startsWith(root)) return undefined
  const contents = locate(pass, path, path.slice(root.length), readFileSync(path, "utf8"))
  return contents === undefined ? undefined : { contents, loader }
}

function locate(pass: Pass, path: string, place: string, text: string): string | undefined {
  const isModule = pass.formats.get(path) ?? looksLikeModule(text, path)
  const contents = locateModule(text, place, pass.calls.get(path) ?? [], isModule)
  if (contents !== undefined) pass.located.set(path, { place, isModule })
  return contents
}

/** A file that a computed `require` could mean. It fails when it is meant. */
function writeRefusal(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1)
  const message = `Cannot load "${name}": it is neither JavaScript nor JSON`
  return `throw new TypeError(${JSON.stringify(message)})`
}

/**
 * Static imports are evaluated with the bundle: esbuild then puts all of them into one function,
 * which V8 caches as a whole. Separate functions are not cached and take longer (zod: 33 ms instead
 * of 20 ms).
 */
function writeMain(pass: Pass, npmPaths: readonly (string | undefined)[]): string {
  const { entries, isAsync } = pass
  const imports = entries.map(({ isLazy }, index) =>
    isLazy ? "" : `import * as e${index} from ${toLiteral(npmPaths, index)};`,
  )
  const toLazy = (index: number) =>
    isAsync
      ? `() => import("hamlet:lazy/${index}.mjs").then(({ it }) => it)`
      : `() => require("hamlet:lazy/${index}.mjs").it`
  const getters = entries.map(({ isLazy }, index) => (isLazy ? toLazy(index) : `() => e${index}`))
  // Before all others, which may require a module from disk when they are evaluated.
  const shared = pass.shared.size > 0 ? 'import "hamlet:shared.mjs";\n' : ""
  return `${shared}${imports.join("\n")}\nmodule.exports = [${getters.join(", ")}]`
}

/** Tells the guest which modules on disk are in the bundle as well. */
function writeShared({ shared, folder }: Pass): string {
  const root = join(folder, installFolder, "/")
  const getters = Array.from(shared, (path) => {
    const name = JSON.stringify(path.slice(root.length))
    return `${name}: () => require(${JSON.stringify(path)})`
  })
  return `${locationNames.at}.share({ ${getters.join(", ")} })`
}

function toLiteral(npmPaths: readonly (string | undefined)[], index: number): string {
  return JSON.stringify(npmPaths[index] ?? `hamlet:entry/${index}`)
}
