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

/** Whether the client accepts a compressed file, and has not excluded the encoding by `q=0`. */
export function acceptsEncoding(request: Request, encoding: "br" | "gzip"): boolean {
  return new RegExp(`\\b${encoding}\\b(?!\\s*;\\s*q=0(\\.0*)?\\s*(,|$))`).test(
    request.headers.get("accept-encoding") ?? "",
  )
}
