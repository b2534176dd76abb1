/**
 * What a client asks for, on a host that means nothing. Bun makes `request.url` of the Host header:
 * without one (HTTP/1.0) or with one that is not valid, it is a bare path or no URL at all.
 */
export function parseTarget(url: string): URL {
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
