/**
 * Parses path and query of `request.url`; the host of the result has no meaning. Bun derives the
 * URL from the Host header: if that is missing (HTTP/1.0) or invalid, it is only a path, or no
 * valid URL.
 */
export function parseRequestUrl(url: string): URL {
  const start = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("://") + 3)
  return new URL(`http://localhost${start < 0 ? "/" : url.slice(start)}`)
}

/** The path that a request is routed by. */
export function toPath(request: Request): string {
  const { url } = request
  const start = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("://") + 3)
  const query = url.indexOf("?", start)
  return start < 0 ? "/" : url.slice(start, query < 0 ? undefined : query)
}
