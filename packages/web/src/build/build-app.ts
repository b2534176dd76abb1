import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { constants, brotliCompress as startBrotli } from "node:zlib"
import { writeTypeLibs } from "../editor/type-service/libs/build-libs.ts"
import { type AppManifest, type BuiltFile, manifestName } from "./app-manifest.ts"
import { createTypeface, findPreloaded, fontFiles, type Typeface } from "./typeface.ts"

const brotliCompress = promisify(startBrotli)
const source = fileURLToPath(new URL("../", import.meta.url))
const contentTypes: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  json: "application/json; charset=utf-8",
  woff2: "font/woff2",
}
/** Smaller files are not compressed. */
const compressedBytesMin = 1_000
/** A higher quality takes seconds for one percent. */
const brotliQuality = { ordinary: 10, large: 6, largeBytesMin: 1_000_000 }

/** Bundles the app into a folder, atomically. */
export async function buildApp(folder: string): Promise<void> {
  const unfinished = `${folder}.${process.pid}`
  await rm(unfinished, { recursive: true, force: true })
  await mkdir(unfinished, { recursive: true })
  try {
    const typeface = createTypeface()
    const [main, theme, worker, { libs, nodeTypes, domTypes }] = await Promise.all([
      bundle(unfinished, ["app/main.tsx", "app/styles/app.css"], "esm", typeface),
      bundle(unfinished, ["ui/theme/theme-boot.ts"], "iife"),
      bundle(unfinished, ["editor/type-service/worker.ts"], "esm"),
      writeTypeLibs(unfinished),
    ])
    for (const [name, bytes] of typeface.files) await writeFile(join(unfinished, name), bytes)
    const entries = {
      main: find(main, ".js"),
      style: find(main, ".css"),
      theme: find(theme, ".js"),
      typeWorker: find(worker, ".js"),
      typeLibs: libs,
      nodeTypes,
      domTypes,
      fonts: findPreloaded(typeface.files.keys()),
    }
    const files = await compressAll(unfinished)
    await writeFile(
      join(unfinished, manifestName),
      JSON.stringify({ entries, files } satisfies AppManifest),
    )
    await rename(unfinished, folder)
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    // Another process has built the same app.
    if (
      !(
        error instanceof Error &&
        "code" in error &&
        (error.code === "ENOTEMPTY" || error.code === "EEXIST")
      )
    )
      throw error
  }
}

/** Returns the names of the entries, which reference the chunks. */
async function bundle(
  folder: string,
  entries: readonly string[],
  format: "esm" | "iife",
  typeface?: Typeface,
): Promise<readonly string[]> {
  const { outputs } = await Bun.build({
    entrypoints: entries.map((entry) => join(source, entry)),
    outdir: folder,
    target: "browser",
    format,
    splitting: format === "esm",
    minify: true,
    naming: {
      entry: "[name]-[hash].[ext]",
      chunk: "[name]-[hash].[ext]",
      asset: "[name]-[hash].[ext]",
    },
    // Set here, because an installed package may not find its tsconfig.json.
    jsx: { runtime: "automatic", importSource: "preact", development: false },
    define: { "process.env.NODE_ENV": '"production"' },
    ...(typeface ? { plugins: [typeface.plugin], external: [fontFiles] } : {}),
  })
  return outputs
    .filter(({ kind }) => kind === "entry-point" || kind === "asset")
    .map(({ path }) => path.slice(path.lastIndexOf("/") + 1))
}

function find(names: readonly string[], end: string): string {
  const name = names.find((name) => name.endsWith(end))
  if (name === undefined)
    throw new Error(`Cannot bundle the app: there is no ${end} among ${names.join(", ")}`)
  return name
}

async function compressAll(folder: string): Promise<Record<string, BuiltFile>> {
  const names = (await readdir(folder)).toSorted()
  const files = await Promise.all(
    names.map(async (name) => [name, await compress(folder, name)] as const),
  )
  return Object.fromEntries(files)
}

async function compress(folder: string, name: string): Promise<BuiltFile> {
  const bytes = await Bun.file(join(folder, name)).bytes()
  const contentType =
    contentTypes[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream"
  if (bytes.length < compressedBytesMin || name.endsWith(".woff2"))
    return { contentType, encodings: [] }
  const quality =
    bytes.length < brotliQuality.largeBytesMin ? brotliQuality.ordinary : brotliQuality.large
  const brotli = await brotliCompress(bytes, {
    params: { [constants.BROTLI_PARAM_QUALITY]: quality },
  })
  await Promise.all([
    writeFile(join(folder, `${name}.br`), brotli),
    writeFile(join(folder, `${name}.gz`), Bun.gzipSync(bytes, { level: 9 })),
  ])
  return { contentType, encodings: ["br", "gzip"] }
}
