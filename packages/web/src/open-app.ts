import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { escapeHtml } from "@hamlet/contract/escape-html"
import { type AppManifest, type BuiltFile, manifestName } from "./build/app-manifest.ts"
import { toDocument } from "./build/to-document.ts"
import { toPreloadTags } from "./build/typeface.ts"

/** The web app, built and ready to be served. */
export interface WebApp {
  /** The HTML of every page; the browser decides what to show. */
  html(options: PageOptions): string
  findFile(name: string): (BuiltFile & { readonly path: string }) | undefined
}

/** The values that are put into the page. */
export interface PageOptions {
  /** The CSP nonce of this response, for styles. */
  readonly nonce: string
  /** Host and port under which vals have addresses of their own. */
  readonly valsDomain: string
  readonly version: string
  /** The operator's notice for all users. */
  readonly notice: string | null
  /** The name of the OpenID Connect provider; null for none. */
  readonly providerName: string | null
  /** What a shared link says about its page. */
  readonly facts:
    | { readonly title: string; readonly description: string; readonly url: string }
    | undefined
}

/** The path of the files of the app. */
export const assetsPath = "/assets/"

/** Opens the app. */
export async function openApp(otherFolder: string): Promise<WebApp> {
  const { folder, entries, files } = await findBuiltApp(otherFolder)
  return {
    html: (options) => toHtml(entries, options),
    findFile(name) {
      const file = Object.hasOwn(files, name) ? files[name] : undefined
      return file && { ...file, path: join(folder, name) }
    },
  }
}

/** The built app. It is built if needed: in `otherFolder` when the sources are read-only. */
export async function findBuiltApp(
  otherFolder: string,
): Promise<AppManifest & { readonly folder: string }> {
  const child = Bun.spawn(
    [process.execPath, fileURLToPath(new URL("./build/main.ts", import.meta.url)), otherFolder],
    {
      stdin: "pipe",
      stdout: "pipe",
      stderr: "pipe",
    },
  )
  const [folder, stderr, code] = await Promise.all([
    Bun.readableStreamToText(child.stdout),
    Bun.readableStreamToText(child.stderr),
    child.exited,
  ])
  if (code !== 0) throw new Error(`Cannot build the web app: ${stderr.trim()}`)
  const manifest = JSON.parse(await readFile(join(folder, manifestName), "utf8")) as AppManifest
  return { folder, ...manifest }
}

function toHtml(
  { main, style, theme, typeWorker, typeLibs, nodeTypes, domTypes, fonts }: AppManifest["entries"],
  { nonce, facts, ...options }: PageOptions,
): string {
  const settings = {
    ...options,
    typeWorker: assetsPath + typeWorker,
    typeLibs: assetsPath + typeLibs,
    nodeTypes: assetsPath + nodeTypes,
    domTypes: assetsPath + domTypes,
  }
  return toDocument({
    title: `${facts ? `${escapeHtml(facts.title)} · ` : ""}Hamlet`,
    metaTags: `<meta name="csp-nonce" content="${nonce}">
<meta name="hamlet" content="${escapeHtml(JSON.stringify(settings))}">
${facts ? toShareTags(facts) : ""}`,
    assetTags: `<link rel="stylesheet" href="${assetsPath}${style}">
${toPreloadTags(fonts.map((name) => assetsPath + name))}<script src="${assetsPath}${theme}"></script>
<script type="module" src="${assetsPath}${main}"></script>`,
    noScript: `Hamlet needs JavaScript. You can also use the <a href="/docs">API</a> or the command line.`,
  })
}

function toShareTags({ title, description, url }: NonNullable<PageOptions["facts"]>): string {
  const tags = [
    ["name", "description", description],
    ["property", "og:site_name", "Hamlet"],
    ["property", "og:type", "website"],
    ["property", "og:title", title],
    ["property", "og:description", description],
    ["property", "og:url", url],
  ] as const
  return tags
    .map(([kind, name, text]) => `<meta ${kind}="${name}" content="${escapeHtml(text)}">\n`)
    .join("")
}
