import { join } from "node:path"
import type { BuildFailure, BuildOptions, Message, Metafile, OnLoadResult, Plugin } from "esbuild"
import { build } from "esbuild"
import type { RemoteModules } from "./remote-modules.ts"

/** One import in a bundle. */
export interface Entry {
  readonly specifier: string
  /** Evaluated when it is first imported; others are evaluated with the bundle. */
  readonly isLazy: boolean
}

/** The result of bundling. */
export type Bundled =
  | { readonly kind: "bundled"; readonly code: Uint8Array; readonly inputs: Metafile["inputs"] }
  | { readonly kind: "failed"; readonly message: string }

/** Bundles all entries into one script; `Bundle` in the domain describes its form. */
export async function bundlePackages(
  modules: RemoteModules,
  entries: readonly Entry[],
  folder: string,
): Promise<Bundled> {
  try {
    const plugin = createPlugin(modules, entries, folder)
    const result = await build({
      ...toBuildOptions(folder),
      plugins: [plugin],
      entryPoints: [{ in: mainPath, out: "packages" }],
    })
    const { inputs } = result.metafile
    const code = result.outputFiles[0]?.contents ?? new Uint8Array()
    return {
      kind: "bundled",
      code: Object.values(inputs).some(isSloppy) ? code : Buffer.concat([strict, code]),
      inputs,
    }
  } catch (error) {
    return { kind: "failed", message: toMessage(error as Partial<BuildFailure>) }
  }
}

/** The options of every build. */
export function toBuildOptions(folder: string) {
  return {
    absWorkingDir: folder,
    outdir: folder,
    bundle: true,
    write: false,
    metafile: true,
    format: "cjs",
    platform: "node",
    target: "esnext",
    // esbuild assumes both for `esnext`. No runtime has decorators yet, and a script cannot import.
    supported: { decorators: false, "dynamic-import": false },
    // The condition of Deno. Naming one also excludes `module`, which only bundlers use.
    conditions: ["deno"],
    define: {
      "process.env.NODE_ENV": '"production"',
      "import.meta.url": '"file:///packages/index.js"',
      __filename: '"/packages/index.js"',
      __dirname: '"/packages"',
    },
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: "none",
    logLevel: "silent",
    // Ignores the tsconfig files of packages.
    tsconfigRaw: {},
  } as const satisfies BuildOptions
}

const strict = Buffer.from('"use strict";')

/**
 * ES modules are strict and CommonJS is not by default, but one script has one mode. Many old
 * packages rely on sloppy mode, and hardly any module relies on strict mode.
 */
function isSloppy({ format }: Metafile["inputs"][string]): boolean {
  return format === "cjs"
}

const mainPath = "hamlet:main.mjs"

function createPlugin(modules: RemoteModules, entries: readonly Entry[], folder: string): Plugin {
  return {
    name: "packages",
    setup(plugin) {
      plugin.onResolve({ filter: /^hamlet:/ }, async ({ path }) => {
        const index = /^hamlet:entry\/(\d+)$/.exec(path)?.[1]
        if (index === undefined) return { path, namespace: "hamlet" }
        return await modules.resolve(plugin, entries[Number(index)]?.specifier ?? "")
      })
      plugin.onResolve({ filter: /./ }, (args) => modules.resolveFrom(plugin, args))
      // The extension makes them ES modules as in Node, where the default export of a CommonJS
      // module is its `module.exports`.
      plugin.onLoad({ filter: /^hamlet:main\.mjs$/, namespace: "hamlet" }, () => ({
        contents: writeMain(entries),
        resolveDir: "/",
      }))
      plugin.onLoad({ filter: /^hamlet:lazy\//, namespace: "hamlet" }, ({ path }) => ({
        contents: `import * as it from "hamlet:entry/${Number.parseInt(path.slice("hamlet:lazy/".length), 10)}"; export { it }`,
        resolveDir: "/",
      }))
      plugin.onLoad({ filter: /\.node$/ }, () => ({ contents: nativeAddon, loader: "js" }))
      plugin.onLoad(
        { filter: /./, namespace: "file" },
        ({ path }) => modules.load(path) ?? refuseOutside(path, folder),
      )
    },
  }
}

/**
 * Refuses files outside of the folder: without bubblewrap, a package could otherwise include any
 * file of the machine. esbuild has resolved all links before.
 */
function refuseOutside(path: string, folder: string): OnLoadResult | undefined {
  return path.startsWith(join(folder, "/"))
    ? undefined
    : { errors: [{ text: `Could not resolve "${path}"` }] }
}

/** A package with a native addon often works without it, so loading it fails at run time only. */
const nativeAddon = 'throw new Error("Cannot load a native addon: vals have none")'

/**
 * Static imports are evaluated with the bundle: esbuild then puts all of them into one function,
 * which V8 caches as a whole. Separate functions are not cached and take longer (zod: 33 ms instead
 * of 20 ms).
 */
function writeMain(entries: readonly Entry[]): string {
  const imports = entries.map(({ isLazy }, index) =>
    isLazy ? "" : `import * as e${index} from "hamlet:entry/${index}";`,
  )
  const getters = entries.map(({ isLazy }, index) =>
    isLazy ? `() => require("hamlet:lazy/${index}.mjs").it` : `() => e${index}`,
  )
  return `${imports.join("\n")}\nmodule.exports = [${getters.join(", ")}]`
}

function toMessage({ errors, message }: Partial<BuildFailure>): string {
  const first: Message | undefined = errors?.[0]
  if (!first) return message ?? "unknown error"
  return first.location ? `${first.text} (${first.location.file})` : first.text
}
