import type { BuildOptions } from "esbuild"

/**
 * The names that `locate` gives a meaning in each module: `__dirname` and the like depend on the
 * module, and esbuild has one value for all. In CommonJS they differ from those in ES modules, which
 * have no `__dirname`.
 */
export const locationNames = {
  file: "__hamletFile",
  at: "__hamletAt",
} as const

/** The options of every build. */
export function toBuildOptions(folder: string) {
  const { file } = locationNames
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
      __filename: `${file}.__filename`,
      __dirname: `${file}.__dirname`,
      "import.meta.url": `${file}.url`,
      "import.meta.filename": `${file}.filename`,
      "import.meta.dirname": `${file}.dirname`,
      "import.meta.resolve": `${file}.resolve`,
      "import.meta.main": "false",
      "require.resolve": `${file}.find`,
    },
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: "none",
    logLevel: "silent",
    // All errors and warnings: the builds that follow depend on them.
    logLimit: 0,
    // Ignores the tsconfig files of packages.
    tsconfigRaw: {},
  } as const satisfies BuildOptions
}
