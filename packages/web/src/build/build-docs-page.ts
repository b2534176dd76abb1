import { fileURLToPath } from "node:url"
import { errorCodes } from "@hamlet/contract"
import { toDocument } from "./to-document.ts"
import {
  createTypeface,
  findPreloaded,
  fontFiles,
  type Typeface,
  toPreloadTags,
} from "./typeface.ts"

/** The page at `/docs`. The HTML refers only to the assets. */
export interface DocsPage {
  readonly html: string
  readonly assets: ReadonlyMap<string, DocsAsset>
}

/** A file of the page. Its name contains a hash, so it may be cached forever. */
export interface DocsAsset {
  readonly contentType: string
  readonly body: Uint8Array
}

const assetsPath = "/docs/assets"
const javaScript = "text/javascript; charset=utf-8"

/** Bundles the page in memory. It is slow: call it once and keep the result. */
export async function buildDocsPage(): Promise<DocsPage> {
  const typeface = createTypeface()
  const [theme, main, style] = await Promise.all([
    bundle(import.meta.resolve("../ui/theme/theme-boot.ts"), javaScript),
    bundle(import.meta.resolve("../docs/main.tsx"), javaScript),
    bundle(import.meta.resolve("../docs/styles/docs.css"), "text/css; charset=utf-8", typeface),
  ])
  const fonts = [...typeface.files].map(([name, body]) => ({
    path: `${assetsPath}/${name}`,
    asset: { contentType: "font/woff2", body },
  }))
  const preloaded = findPreloaded(fonts.map(({ path }) => path))
  return {
    html: toHtml(theme.path, main.path, style.path, preloaded),
    assets: new Map([theme, main, style, ...fonts].map(({ path, asset }) => [path, asset])),
  }
}

async function bundle(
  url: string,
  contentType: string,
  typeface?: Typeface,
): Promise<{ path: string; asset: DocsAsset }> {
  const { outputs } = await Bun.build({
    entrypoints: [fileURLToPath(url)],
    target: "browser",
    // One script without imports, also for the plain script that runs before the first paint.
    format: "iife",
    minify: true,
    naming: "[name]-[hash].[ext]",
    // Set here, because an installed package may not find its tsconfig.json.
    jsx: { runtime: "automatic", importSource: "preact", development: false },
    define: {
      "process.env.NODE_ENV": '"production"',
      HAMLET_ERROR_CODES: JSON.stringify(errorCodes),
    },
    ...(typeface ? { plugins: [typeface.plugin], external: [fontFiles] } : {}),
  })
  const output = outputs[0]
  if (!output) throw new Error(`Cannot bundle "${url}": there is no output`)
  const name = output.path.slice(output.path.lastIndexOf("/") + 1)
  return {
    path: `${assetsPath}/${name}`,
    asset: { contentType, body: new Uint8Array(await output.arrayBuffer()) },
  }
}

function toHtml(
  themePath: string,
  mainPath: string,
  stylePath: string,
  fontPaths: readonly string[],
): string {
  return toDocument({
    title: "Hamlet API",
    metaTags: `<meta name="referrer" content="no-referrer">`,
    assetTags: `<link rel="stylesheet" href="${stylePath}">
${toPreloadTags(fontPaths)}<script src="${themePath}"></script>
<script src="${mainPath}" defer></script>`,
    noScript: `This page needs JavaScript. The same description is at <a href="/openapi.json">/openapi.json</a>.`,
  })
}
