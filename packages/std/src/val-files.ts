/**
 * What a val can find out about itself and serve of itself.
 *
 * ```ts
 * import { parseVal, readFile, serveFile } from "https://esm.town/v/std/utils/index.ts"
 *
 * const { username, name } = parseVal(import.meta.url)
 * const readme = await readFile("/README.md")
 * ```
 *
 * Names are those of Val Town's module. There a val has any number of files; here it has its code,
 * which is `main.tsx`, and its readme, which is `README.md`.
 *
 * @module
 */

/** A val, as its module address describes it. */
export interface ValMetadata {
  /** The owner. */
  username: string
  /** The same as `username`. */
  owner: string
  name: string
  /** Null if the address has none: the current version. */
  version: number | null
  branch: string
  /** The file that the address names. */
  file: string
  links: {
    /** The pages of the val. */
    self: { val: string; project: string; branch: string }
    /** The address of its module, without a version. */
    esm: string
  }
}

/** A file of a val. */
export interface ValFile {
  name: string
  path: string
  type: "http" | "script" | "interval" | "email" | "file"
  version: number
  updatedAt: string
  links: { self: string; html: string; module: string; endpoint?: string }
}

/** What the server says of a val. */
interface ValRecord {
  id: string
  type: "http" | "script" | "interval" | "email"
  version: number
  createdAt: string
  url: string
  readme: string | null
  links: { self: string; module: string; endpoint?: string }
}

interface Runtime {
  Deno?: { env: { get(name: string): string | undefined } }
}

// Keeps the original: a val may replace the global later, for example in a test.
const send = globalThis.fetch

const codeName = "main.tsx"
const readmeName = "README.md"

/** The parts of the address of a module: user, name, version, branch, file. */
const modulePattern = /^(.*)\/v\/@?([^/@]+)\/([^/@]+)(?:@(\d+)?(?:-?([^/]+))?)?(?:\/(.+))?$/

/** Describes the val with this module address, as in `parseVal(import.meta.url)`. */
export function parseVal(importMetaUrl: string = getEntrypoint()): ValMetadata {
  const url = URL.parse(importMetaUrl)
  const [, base = "", username = "", name = "", version, branch = "main", file = codeName] =
    modulePattern.exec(url?.pathname ?? "") ?? []
  if (url === null || username === "")
    throw new Error(`Cannot parse "${importMetaUrl}": it is not the address of a val`)
  const given = version ?? url.searchParams.get("v")
  const page = isTown(url)
    ? `https://www.val.town/x/${username}/${name}`
    : `${url.origin}${base}/u/${username}/${name}`
  return {
    username,
    owner: username,
    name,
    version: given !== null && /^\d+$/.test(given) ? Number(given) : null,
    branch,
    file,
    links: {
      self: { val: page, project: page, branch: page },
      esm: `${url.origin}${base}/v/${username}/${name}`,
    },
  }
}

/** The same as `parseVal`, under its former name. */
export const parseProject: typeof parseVal = parseVal

/** Whether the module with this address is the val that runs, rather than one that it imports. */
export function isMain(importMetaUrl: string): boolean {
  return importMetaUrl === getEntrypoint()
}

/** The content of a file of a val: of the one that runs, unless another address is given. */
export async function readFile(
  path: string,
  importMetaUrl: string = getEntrypoint(),
): Promise<string> {
  const file = toFileName(path)
  const { links } = parseVal(importMetaUrl)
  if (isTown(new URL(importMetaUrl))) return await fetchText(file, toFileUrl(importMetaUrl, file))
  if (file === readmeName) {
    const { readme } = await getVal(importMetaUrl)
    if (readme !== null) return readme
  }
  if (file === codeName) return await fetchText(file, toPinned(importMetaUrl), "text/tsx")
  throw new Error(
    `Failed to fetch file "${path}" of ${links.esm}: a val on this server has the files ${codeName} and, if it has a readme, ${readmeName}`,
  )
}

/** The files of a val. */
export async function listFiles(importMetaUrl: string = getEntrypoint()): Promise<ValFile[]> {
  const { type, version, createdAt: updatedAt, url, readme, links } = await getVal(importMetaUrl)
  const { self, module, endpoint } = links
  const common = { version, updatedAt, links: { self, html: url, module } }
  const code: ValFile = {
    ...common,
    name: codeName,
    path: codeName,
    type,
    links: { ...common.links, ...(endpoint === undefined ? {} : { endpoint }) },
  }
  return readme === null
    ? [code]
    : [code, { ...common, name: readmeName, path: readmeName, type: "file" }]
}

/** The files of a val whose paths begin with a path. */
export async function listFilesByPath(
  path: string,
  importMetaUrl: string = getEntrypoint(),
): Promise<ValFile[]> {
  const prefix = path.replace(/^\.?\//, "")
  return (await listFiles(importMetaUrl)).filter((file) => file.path.startsWith(prefix))
}

/** The web address of a val of type http. */
export async function httpEndpoint(
  _path: string = codeName,
  importMetaUrl: string = getEntrypoint(),
): Promise<string> {
  const { links } = await getVal(importMetaUrl)
  if (links.endpoint !== undefined) return links.endpoint
  throw new Error(`Cannot find the web address of ${links.module}: the val is not of type http`)
}

/** The email address of a val. No val has one on this server. */
export async function emailAddress(
  _path: string = codeName,
  importMetaUrl: string = getEntrypoint(),
): Promise<string> {
  const { links } = parseVal(importMetaUrl)
  throw new Error(
    `Cannot find the email address of ${links.esm}: mail is not configured on this server`,
  )
}

/** The id of a val. */
export async function getValId(importMetaUrl: string = getEntrypoint()): Promise<string> {
  return (await getVal(importMetaUrl)).id
}

/** The code of the module at an address as JavaScript, for a browser. */
export async function fetchTranspiledJavaScript(url: string): Promise<string> {
  return await fetchText(url, url, "text/javascript")
}

/** A response with a file of a val. Code is served as JavaScript. */
export async function serveFile(
  path: string,
  importMetaUrl: string = getEntrypoint(),
): Promise<Response> {
  const file = toFileName(path)
  const contentType = getContentType(file)
  const headers = { "content-type": contentType }
  if (!/\.(?:ts|tsx|jsx)$/.test(file)) {
    return new Response(await readFile(path, importMetaUrl), { headers })
  }
  // Fails for a file that is not there.
  if (file !== codeName && !isTown(new URL(importMetaUrl))) await readFile(path, importMetaUrl)
  const url = isTown(new URL(importMetaUrl))
    ? toFileUrl(importMetaUrl, file)
    : toPinned(importMetaUrl)
  return new Response(await fetchTranspiledJavaScript(url), { headers })
}

/** A handler that serves the files of a val: `export default staticHTTPServer(import.meta.url)`. */
export function staticHTTPServer(
  importMetaUrl: string = getEntrypoint(),
): (request: Request) => Promise<Response> {
  return async (request) => {
    const { pathname } = new URL(request.url)
    try {
      return await serveFile(pathname === "/" ? "/index.html" : pathname, importMetaUrl)
    } catch (error) {
      return new Response(error instanceof Error ? error.message : String(error), { status: 404 })
    }
  }
}

const immutablePrefix = "/__immutable/"

/** A path for a file that changes with every version, so that browsers may cache it forever. */
export function immutableFileUrl(path: string, importMetaUrl: string = getEntrypoint()): string {
  const { version } = parseVal(importMetaUrl)
  return `${immutablePrefix}${version ?? "current"}/${toFileName(path)}`
}

/** A response to a request for a path of `immutableFileUrl`. */
export async function serveImmutableFile(
  path: string,
  importMetaUrl: string = getEntrypoint(),
): Promise<Response> {
  const [version, ...rest] = path.slice(immutablePrefix.length).split("/")
  if (!path.startsWith(immutablePrefix) || rest.length === 0)
    return new Response("Not found", { status: 404 })
  const current = immutableFileUrl(rest.join("/"), importMetaUrl)
  if (current !== path || version === "current")
    return new Response(null, { status: 302, headers: { location: current } })
  const response = await serveFile(rest.join("/"), importMetaUrl)
  response.headers.set("cache-control", "public, max-age=31536000, immutable")
  return response
}

const contentTypes: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  csv: "text/csv; charset=utf-8",
  gif: "image/gif",
  htm: "text/html; charset=utf-8",
  html: "text/html; charset=utf-8",
  ico: "image/x-icon",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  js: "text/javascript",
  json: "application/json; charset=utf-8",
  jsx: "text/javascript",
  md: "text/markdown; charset=utf-8",
  mjs: "text/javascript",
  pdf: "application/pdf",
  png: "image/png",
  svg: "image/svg+xml",
  ts: "text/javascript",
  tsx: "text/javascript",
  txt: "text/plain; charset=utf-8",
  wasm: "application/wasm",
  webmanifest: "application/manifest+json",
  webp: "image/webp",
  woff: "font/woff",
  woff2: "font/woff2",
  xml: "text/xml; charset=utf-8",
}

/** The content type for the extension of a path; that of text for an unknown one. */
export function getContentType(path: string): string {
  const extension = /\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? ""
  return contentTypes[extension] ?? "text/plain; charset=utf-8"
}

function getEntrypoint(): string {
  const url = (globalThis as Runtime).Deno?.env.get("VALTOWN_ENTRYPOINT")
  if (url !== undefined) return url
  throw new Error(
    "Cannot tell which val this is: outside of a val, give import.meta.url as the last argument",
  )
}

function isTown({ origin }: URL): boolean {
  return origin === "https://esm.town"
}

/** The name of a file, which is written in several ways. */
function toFileName(path: string): string {
  const file = path.replace(/^\.?\/+/, "")
  if (/^readme\.md$/i.test(file)) return readmeName
  return /^(?:main|index)\.tsx?$/.test(file) ? codeName : file
}

/** The address of a file beside a module of Val Town. */
function toFileUrl(importMetaUrl: string, file: string): string {
  const [start = ""] = /^https:\/\/esm\.town\/v\/[^/]+\/[^/?]+/.exec(importMetaUrl) ?? []
  return `${start}/${file}`
}

/** The address of a module with its version, if it has one. */
function toPinned(importMetaUrl: string): string {
  const { links, version } = parseVal(importMetaUrl)
  return version === null ? links.esm : `${links.esm}@${version}`
}

async function getVal(importMetaUrl: string): Promise<ValRecord> {
  const { username, name, links } = parseVal(importMetaUrl)
  const base = links.esm.slice(0, -`/v/${username}/${name}`.length)
  return JSON.parse(
    await fetchText(links.esm, `${base}/v1/alias/${username}/${name}`, "application/json"),
  )
}

/** `what` is for the error. The token goes to this server only. */
async function fetchText(what: string, url: string, accept = "*/*"): Promise<string> {
  const env = (globalThis as Runtime).Deno?.env
  const [server, token] = [env?.get("HAMLET_URL"), env?.get("HAMLET_TOKEN")]
  const isOwn = server !== undefined && token !== undefined && url.startsWith(`${server}/`)
  const response = await send(url, {
    headers: {
      accept,
      // A browser gets JavaScript.
      ...(accept === "text/javascript" ? { "user-agent": "Mozilla/5.0" } : {}),
      ...(isOwn ? { authorization: `Bearer ${token}` } : {}),
    },
  })
  if (response.ok) return await response.text()
  await response.body?.cancel()
  throw new Error(`Failed to fetch file "${what}": the server answered ${response.status}`)
}
