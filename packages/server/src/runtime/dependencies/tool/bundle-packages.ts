import { join } from "node:path"
import type { BuildFailure, BuildOptions, Message, Metafile, OnLoadResult, Plugin } from "esbuild"
import { build } from "esbuild"
import type { RemoteModules } from "./remote-modules.ts"

/** What goes into a bundle. */
export interface Entry {
  readonly specifier: string
  /** Evaluated when it is asked for; the others are when the bundle is. */
  readonly isLazy: boolean
}

/** What came of it. */
export type Bundled =
  | { readonly kind: "bundled"; readonly code: Uint8Array; readonly inputs: Metafile["inputs"] }
  | { readonly kind: "failed"; readonly message: string }

/** Makes one script of all entries; see `Bundle` in the domain for its form. */
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

/** What every build has in common. */
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
    // What esbuild takes for supported by the next runtime; nobody has decorators yet, and a script
    // cannot import.
    supported: { decorators: false, "dynamic-import": false },
    // Those of Deno. To name one also leaves out `module`, which only bundlers have.
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
    // Otherwise those of packages would count.
    tsconfigRaw: {},
  } as const satisfies BuildOptions
}

const strict = Buffer.from('"use strict";')

/**
 * ES modules are strict and CommonJS is not unless it says so, but in one script there is one
 * answer. Old packages that count on being sloppy are many, and modules that count on being strict
 * hardly any.
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
      // The ending is what makes them ES modules in the eyes of a runtime, where the default export
      // of CommonJS is all that it exports.
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
 * esbuild has followed all links. Where there is no bubblewrap, a package could otherwise ask for
 * any file of the machine.
 */
function refuseOutside(path: string, folder: string): OnLoadResult | undefined {
  return path.startsWith(join(folder, "/"))
    ? undefined
    : { errors: [{ text: `Could not resolve "${path}"` }] }
}

/** Packages that have one often can do without it, and only they know. */
const nativeAddon = 'throw new Error("Cannot load a native addon: vals have none")'

/**
 * What is surely imported is evaluated with the bundle: esbuild then puts all of it into one
 * function, which V8 has in its cache as a whole. Functions that are called one by one are not in
 * it, and take twice as long (zod: 33 ms instead of 20).
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
  if (!first) return message ?? "nothing is known of it"
  return first.location ? `${first.text} (${first.location.file})` : first.text
}
