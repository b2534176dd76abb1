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
 * Names are those of Val Town's module. Files are those of the version that an address names: by
 * default of the one that runs, whose files the val gets without a request.
 *
 * @module
 */

/** A val, as its module address describes it. */
export interface ValMetadata {
  /** The owner. */
  username: string
  /** The owner, like `username`. */
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

/** A file or folder of a val. */
export interface ValFile {
  id: string
  name: string
  path: string
  type: "directory" | "http" | "script" | "interval" | "email" | "file"
  /** The version in which it last changed. */
  version: number
  updatedAt: string
  links: { self: string; html: string; module: string; endpoint?: string; email?: string }
}

/** What the server says of the files of a val. */
interface FilePage {
  data: ValFile[]
  links: { next?: string }
}

interface Runtime {
  Deno?: { env: { get(name: string): string | undefined } }
}

// Keeps the original: a val may replace the global later, for example in a test.
const send = globalThis.fetch

/** Reads the files of the val that runs; without a path, the JSON of a list of them. */
type ReadOwn = (path: string | null) => Promise<string | null>

/** A val has it; other programs have not. */
const readOwn = (globalThis as Record<symbol, unknown>)[Symbol.for("hamlet.files")] as
  | ReadOwn
  | undefined

const codeName = "main.tsx"

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

/** `parseVal` under its former name. */
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
  const file = toPath(path)
  const { links } = parseVal(importMetaUrl)
  if (!readOwn || !isOwn(importMetaUrl))
    return await fetchText(path, toFileUrl(importMetaUrl, file), "text/tsx")
  const text = await readOwn(file)
  if (text !== null) return text
  throw new Error(`Failed to fetch file "${path}" of ${links.esm}: there is no such file`)
}

/** The files and folders of a val. */
export async function listFiles(importMetaUrl: string = getEntrypoint()): Promise<ValFile[]> {
  if (!readOwn || !isOwn(importMetaUrl)) return await fetchFiles(importMetaUrl)
  const { links } = parseVal(importMetaUrl)
  const files: Omit<ValFile, "name" | "links">[] = JSON.parse((await readOwn(null)) ?? "[]")
  return files.map((file) => ({
    ...file,
    name: file.path.slice(file.path.lastIndexOf("/") + 1),
    links: {
      self: `${toBase(importMetaUrl)}/v2/files/${file.id}`,
      html: links.self.val,
      module: toFileUrl(importMetaUrl, file.path),
    },
  }))
}

/** The files and folders in a folder of a val, at any depth. */
export async function listFilesByPath(
  path: string,
  importMetaUrl: string = getEntrypoint(),
): Promise<ValFile[]> {
  const prefix = toPath(path)
  return (await listFiles(importMetaUrl)).filter((file) => file.path.startsWith(prefix))
}

/** The web address of a file of type http. */
export async function httpEndpoint(
  path: string = codeName,
  importMetaUrl: string = getEntrypoint(),
): Promise<string> {
  const { links } = await getFile(path, importMetaUrl)
  if (links.endpoint !== undefined) return links.endpoint
  throw new Error(`Cannot find the web address of "${path}": the file is not of type http`)
}

/** The email address of a file of type email. */
export async function emailAddress(
  path: string = codeName,
  importMetaUrl: string = getEntrypoint(),
): Promise<string> {
  const { links, type } = await getFile(path, importMetaUrl)
  if (links.email !== undefined) return links.email
  throw new Error(
    `Cannot find the email address of "${path}": ${type === "email" ? "mail is not configured on this server" : "the file is not of type email"}`,
  )
}

/** The id of a val. */
export async function getValId(importMetaUrl: string = getEntrypoint()): Promise<string> {
  const { username, name } = parseVal(importMetaUrl)
  const url = `${toBase(importMetaUrl)}/v2/alias/vals/${username}/${name}`
  return JSON.parse(await fetchText(url, url, "application/json")).id
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
  const file = toPath(path)
  const headers = { "content-type": getContentType(file) }
  const body = /\.(?:ts|tsx|jsx)$/.test(file)
    ? toBrowserImports(await fetchTranspiledJavaScript(toFileUrl(importMetaUrl, file)))
    : await readFile(path, importMetaUrl)
  return new Response(body, { headers })
}

/** Browsers cannot load `npm:` and `jsr:`: their packages are at addresses of esm.sh as well. */
function toBrowserImports(code: string): string {
  return code.replace(
    /(\bfrom\s*|\bimport\s*\(?\s*)(["'])(npm|jsr):\/?([^"'\s]+)\2/g,
    (_, before: string, quote: string, registry: string, name: string) =>
      `${before}${quote}https://esm.sh/${registry === "jsr" ? "jsr/" : ""}${name}${quote}`,
  )
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
  return `${immutablePrefix}${version ?? "current"}/${toPath(path)}`
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

/** Paths of files that change with every version, and their responses. */
export interface VersionedAssets {
  url(path: string): string
  serve(request: Request): Promise<Response>
}

/** Serves files under `/v{version}/`, so that browsers may cache them forever. */
export function versionedAssets(importMetaUrl: string = getEntrypoint()): VersionedAssets {
  const prefix = `/v${parseVal(importMetaUrl).version ?? 0}/`
  return {
    url: (path) => `${prefix}${toPath(path)}`,
    async serve(request) {
      const { pathname } = new URL(request.url)
      const file = /^\/v\d+\/(.+)$/.exec(pathname)?.[1]
      if (file === undefined) return new Response("Not found", { status: 404 })
      if (!pathname.startsWith(prefix))
        return new Response(null, { status: 302, headers: { location: `${prefix}${file}` } })
      const response = await serveFile(file, importMetaUrl)
      response.headers.set("cache-control", "public, max-age=31536000, immutable")
      return response
    },
  }
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

/** A path from the root of a val, however it is written. */
function toPath(path: string): string {
  return path.replace(/^\.?\/+/, "")
}

/** Whether the address is in the version of the val that runs. */
function isOwn(importMetaUrl: string): boolean {
  const [own, other] = [getEntrypoint(), importMetaUrl].map(
    (url) => /^.*@\d+-[^/]+\//.exec(url)?.[0],
  )
  return own !== undefined && own === other
}

/** The address of a file beside a module, in the same version. */
function toFileUrl(importMetaUrl: string, file: string): string {
  const { links, version, branch } = parseVal(importMetaUrl)
  return version === null ? `${links.esm}/${file}` : `${links.esm}@${version}-${branch}/${file}`
}

/** The address of the server that an address is on. */
function toBase(importMetaUrl: string): string {
  const { username, name, links } = parseVal(importMetaUrl)
  return links.esm.slice(0, -`/v/${username}/${name}`.length)
}

/** A file with its links, from the server. */
async function getFile(path: string, importMetaUrl: string): Promise<ValFile> {
  const file = (await listFiles(importMetaUrl)).find((one) => one.path === toPath(path))
  if (!file) throw new Error(`Cannot find file "${path}" of ${parseVal(importMetaUrl).links.esm}`)
  return JSON.parse(await fetchText(path, file.links.self, "application/json"))
}

async function fetchFiles(importMetaUrl: string): Promise<ValFile[]> {
  const { version, branch } = parseVal(importMetaUrl)
  const val = `${toBase(importMetaUrl)}/v2/vals/${await getValId(importMetaUrl)}`
  const read = async <T>(url: string): Promise<T> =>
    JSON.parse(await fetchText(url, url, "application/json"))
  const branches = await read<{ data: { id: string; name: string }[] }>(`${val}/branches?limit=100`)
  const found = branches.data.find(({ name }) => name.toLowerCase() === branch.toLowerCase())
  if (!found) throw new Error(`Cannot list the files of ${importMetaUrl}: there is no such branch`)
  const at = version === null ? "" : `&version=${version}`
  const files: ValFile[] = []
  let next: string | undefined =
    `${val}/files?path=&recursive=true&limit=100&branch_id=${found.id}${at}`
  while (next !== undefined) {
    const page: FilePage = await read(next)
    for (const file of page.data) files.push(file)
    next = page.data.length > 0 ? page.links.next : undefined
  }
  return files
}

/** `what` is for the error. The token goes to this server only. */
async function fetchText(what: string, url: string, accept = "*/*"): Promise<string> {
  const env = (globalThis as Runtime).Deno?.env
  const [server, token] = [env?.get("HAMLET_URL"), env?.get("HAMLET_TOKEN")]
  const isOwn = server !== undefined && token !== undefined && url.startsWith(`${server}/`)
  const response = await send(url, {
    headers: {
      accept,
      // Val Town and older servers send JavaScript to browsers.
      ...(accept === "text/javascript" ? { "user-agent": "Mozilla/5.0" } : {}),
      ...(isOwn ? { authorization: `Bearer ${token}` } : {}),
    },
  })
  if (response.ok) return await response.text()
  await response.body?.cancel()
  throw new Error(`Failed to fetch file "${what}": the server answered ${response.status}`)
}
