import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type { Loader, OnLoadResult, OnResolveArgs, OnResolveResult, PluginBuild } from "esbuild"
import type { DenoGraph } from "./deno-graph.ts"
import type { InfoModule } from "./deno-info.ts"

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

/** Deno keeps what it knows of a module at the end of its file. */
const metadataPattern = /\n\/\/ denoCacheMetadata=[^\n]*$/

/**
 * Makes esbuild see what Deno has fetched: modules of other servers as files in a folder of ES
 * modules, npm packages in the folder where they are installed.
 */
export class RemoteModules {
  readonly #graph: DenoGraph
  readonly #folder: string
  /**
   * The addresses of modules by their paths in the folder, which have nothing but a number and an
   * ending.
   */
  readonly #modules = new Map<string, InfoModule>()
  readonly #paths = new Map<string, string>()

  constructor(graph: DenoGraph, folder: string) {
    this.#graph = graph
    this.#folder = folder
    mkdirSync(folder, { recursive: true })
    // Without it, esbuild takes CommonJS packages that they import as bundlers do, and not as
    // runtimes do.
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }')
  }

  /** What a specifier of ours leads to. */
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

  /** What a specifier in one of the modules leads to; undefined when it is none of ours. */
  async resolveFrom(build: PluginBuild, args: OnResolveArgs): Promise<OnResolveResult | undefined> {
    const importer = this.#modules.get(args.importer)
    if (!importer) return undefined
    // esbuild knows what to do.
    if (args.path.startsWith("data:")) return undefined
    const found = importer.dependencies?.find(({ specifier }) => specifier === args.path)
    const target = found?.code?.specifier
    const isMissing = target === undefined || this.#graph.findFailure(target) !== undefined
    // Whoever imports it later, if at all, gets an error then.
    if (isMissing && args.kind === "dynamic-import") return { path: args.path, external: true }
    if (target === undefined) return { errors: [{ text: `Could not resolve "${args.path}"` }] }
    return await this.resolve(build, target, found?.npmPackage)
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

  /** Deno says where the package is; what it exports is for esbuild to find. */
  async #resolveNpm(
    build: PluginBuild,
    module: InfoModule,
    npmPackage: string | undefined,
  ): Promise<OnResolveResult> {
    const found = this.#graph.findPackage(module.npmPackage ?? npmPackage)
    if (!found?.localPath) return { errors: [{ text: `Could not resolve "${module.specifier}"` }] }
    // `…/node_modules/@scope/name` is what a file in `…` means by `@scope/name`.
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
