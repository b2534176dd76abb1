import type { ApiResponse } from "../response/api-response.ts"

/** The web app: one HTML page for all of its paths, and the files that it loads. */
export interface WebApp {
  html(options: {
    readonly nonce: string
    readonly valsDomain: string
    readonly version: string
    /** A warning that every page shows. */
    readonly notice: string | null
    /** The name of the OpenID Connect provider; null for none. */
    readonly providerName: string | null
    readonly facts: PageFacts | undefined
  }): string
  findFile(name: string): WebFile | undefined
}

/** What a shared link says about its page, in chats and in search results. */
export interface PageFacts {
  readonly title: string
  readonly description: string
  readonly url: string
  /** Search engines must not list it: only those who know the address find it. */
  readonly isUnlisted: boolean
}

/** A file on disk, named after a hash of its content; its compressed forms are beside it. */
export interface WebFile {
  readonly path: string
  readonly contentType: string
  readonly encodings: readonly ("br" | "gzip")[]
}

/**
 * The `script-src` of a page: the folder of its files. `'self'` would include the module addresses
 * of vals, which any user can write. A policy cannot name an IPv6 address; then it is `'self'`.
 */
export function toScriptSources(baseUrl: string, request: Request, folder: string): string {
  const hosts = [...new Set([new URL(baseUrl).host, request.headers.get("host") ?? ""])].filter(
    (host) => host !== "",
  )
  return hosts.every((host) => /^[a-z0-9.-]+(:\d+)?$/i.test(host))
    ? hosts.map((host) => host + folder).join(" ")
    : "'self'"
}

const encodings = {
  br: /\bbr\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/,
  gzip: /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/,
}

/** Whether the client accepts a compressed file, and has not excluded the encoding by `q=0`. */
export function acceptsEncoding(request: Request, encoding: "br" | "gzip"): boolean {
  return encodings[encoding].test(request.headers.get("accept-encoding") ?? "")
}

const gzipCache = new WeakMap<Uint8Array, Uint8Array>()

/** Compresses a body that never changes, once, if the client accepts it. */
export function gzip(response: ApiResponse, request: Request): ApiResponse {
  const { body } = response
  if (!(body instanceof Uint8Array)) return response
  const headers = { ...response.headers, vary: "accept-encoding" }
  if (!acceptsEncoding(request, "gzip")) return { ...response, headers }
  const compressed = gzipCache.get(body) ?? Bun.gzipSync(new Uint8Array(body))
  gzipCache.set(body, compressed)
  return { ...response, headers: { ...headers, "content-encoding": "gzip" }, body: compressed }
}
