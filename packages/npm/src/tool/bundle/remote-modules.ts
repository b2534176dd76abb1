import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type { Loader, OnLoadResult, OnResolveArgs, OnResolveResult, PluginBuild } from "esbuild"
import type { DenoGraph } from "../deno-graph.ts"
import type { InfoModule } from "../deno-info.ts"

const loaders: Readonly<Record<string, Loader>> = {
  JavaScript: "js",
  Mjs: "js",
  JSX: "jsx",
  TypeScript: "ts",
  Mts: "ts",
  TSX: "tsx",
  Dts: "ts",
  Dmts: "ts",
  Json: "json",
}

const packageNamespace = "hamlet-package"
/** Makes it an ES module as in Node. */
const packageEnding = ".mjs"

/** Deno appends its metadata to the file of a module. */
const metadataPattern = /\n\/\/ denoCacheMetadata=[^\n]*$/

/**
 * Lets esbuild read what Deno has fetched: remote modules as files in a folder of ES modules, npm
 * packages in the folders where they are installed.
 */
export class RemoteModules {
  readonly #graph: DenoGraph
  readonly #folder: string
  /** Modules by their paths in the folder. A file name is a number and an extension. */
  readonly #modules = new Map<string, InfoModule>()
  readonly #paths = new Map<string, string>()

  constructor(graph: DenoGraph, folder: string) {
    this.#graph = graph
    this.#folder = folder
    mkdirSync(folder, { recursive: true })
    // Without it, esbuild imports CommonJS as bundlers do, not as Node and Deno do.
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }')
  }

  /** Resolves a specifier of the code. */
  async resolve(
    build: PluginBuild,
    specifier: string,
    npmPackage?: string,
  ): Promise<OnResolveResult> {
    const module = this.#graph.find(specifier)
    if (module?.kind === "node") return { path: module.specifier, external: true }
    if (module?.kind === "npm") return await this.#resolveNpm(build, module, npmPackage)
    if (!module?.local || module.error !== undefined || module.specifier.startsWith("file:"))
      return { errors: [{ text: `Could not resolve "${specifier}"` }] }
    return { path: this.#toPath(module) }
  }

  /** Resolves a specifier in a remote module. Undefined when the importer is not one. */
  async resolveFrom(build: PluginBuild, args: OnResolveArgs): Promise<OnResolveResult | undefined> {
    const importer = this.#modules.get(args.importer)
    if (!importer) return undefined
    // esbuild handles it.
    if (args.path.startsWith("data:")) return undefined
    const found = importer.dependencies?.find(({ specifier }) => specifier === args.path)
    const target = found?.code?.specifier
    const isMissing = target === undefined || this.#graph.findFailure(target) !== undefined
    // A dynamic import fails at run time.
    if (isMissing && args.kind === "dynamic-import") return { path: args.path, external: true }
    if (target === undefined) return { errors: [{ text: `Could not resolve "${args.path}"` }] }
    const resolved = await this.resolve(build, target, found?.npmPackage)
    const isPackage = this.#graph.find(target)?.kind === "npm"
    return isPackage && resolved.path !== undefined && !resolved.external
      ? { path: `${resolved.path}${packageEnding}`, namespace: packageNamespace }
      : resolved
  }

  /**
   * The modules through which remote modules import npm packages: esbuild forgets the type of a
   * package when a plugin resolves it, so the plugin resolves to a module with the path of the file.
   */
  addPackageModules(build: PluginBuild): void {
    build.onLoad({ filter: /./, namespace: packageNamespace }, ({ path }) => {
      const literal = JSON.stringify(path.slice(0, -packageEnding.length))
      const contents = `import * as it from ${literal}; export * from ${literal}; export default it.default`
      return { contents, resolveDir: "/" }
    })
  }

  /** Whether the path is that of a remote module. */
  has(path: string): boolean {
    return this.#modules.has(path)
  }

  /** The address of a remote module. */
  findUrl(path: string): string | undefined {
    return this.#modules.get(path)?.specifier
  }

  load(path: string): OnLoadResult | undefined {
    const module = this.#modules.get(path)
    if (!module?.local) return undefined
    const loader = loaders[module.mediaType ?? ""]
    if (!loader)
      return {
        errors: [
          { text: `No loader is configured for "${module.mediaType}" files: ${module.specifier}` },
        ],
      }
    return {
      contents: readFileSync(module.local, "utf8").replace(metadataPattern, ""),
      loader,
      resolveDir: this.#folder,
    }
  }

  /** Deno knows the folder of the package. esbuild resolves the path in it. */
  async #resolveNpm(
    build: PluginBuild,
    module: InfoModule,
    npmPackage: string | undefined,
  ): Promise<OnResolveResult> {
    const found = this.#graph.findPackage(module.npmPackage ?? npmPackage)
    if (!found?.localPath) return { errors: [{ text: `Could not resolve "${module.specifier}"` }] }
    // For a file in `…`, `@scope/name` is `…/node_modules/@scope/name`.
    const resolveDir = found.name.split("/").reduce(dirname, dirname(found.localPath))
    const subpath = /^npm:\/?(?:@[^/]+\/)?[^/]+(\/.*)?$/.exec(module.specifier)?.[1] ?? ""
    return await build.resolve(found.name + subpath, { kind: "import-statement", resolveDir })
  }

  #toPath(module: InfoModule): string {
    const known = this.#paths.get(module.specifier)
    if (known !== undefined) return known
    const path = join(
      this.#folder,
      `${this.#paths.size}.${loaders[module.mediaType ?? ""] ?? "js"}`,
    )
    this.#paths.set(module.specifier, path)
    this.#modules.set(path, module)
    return path
  }
}
