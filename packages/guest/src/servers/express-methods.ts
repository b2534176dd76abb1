import type http from "node:http"

const limits = {
  /** A longer body is left to the handler, which can read it from the request. */
  bodyBytesMax: 1_048_576,
}

/**
 * The body of a request as Express parses it for a handler: JSON and forms. Undefined for other
 * bodies. The request itself stays unread, for handlers that read it as a stream.
 */
export async function parseBody(request: Request): Promise<unknown> {
  const type = request.headers.get("content-type") ?? ""
  const length = Number(request.headers.get("content-length") ?? Number.NaN)
  if (!(length <= limits.bodyBytesMax)) return undefined
  if (/^application\/(?:[\w.-]+\+)?json\b/i.test(type)) {
    const text = await request.clone().text()
    try {
      return JSON.parse(text)
    } catch {
      // The handler gets what Express gives it for text: it may respond with an error of its own.
      return text
    }
  }
  if (/^application\/x-www-form-urlencoded\b/i.test(type))
    return toFields(new URLSearchParams(await request.clone().text()))
  return /^text\//i.test(type) ? await request.clone().text() : undefined
}

/** Adds what handlers written for Express read from a request. */
export function addRequestFields(request: http.IncomingMessage, body: unknown): void {
  // Not relative to a base: a path with two slashes at its start would become a host.
  const url = new URL(`http://localhost${request.url ?? "/"}`)
  const get = (name: string) => request.headers[name.toLowerCase()]
  Object.assign(request, {
    path: url.pathname,
    query: toFields(url.searchParams),
    params: {},
    originalUrl: request.url,
    hostname: (request.headers.host ?? "").replace(/:\d+$/, ""),
    ip: request.socket.remoteAddress,
    get,
    header: get,
    ...(body === undefined ? {} : { body }),
  })
}

/** A name that is there several times has a list. */
function toFields(params: URLSearchParams): Record<string, string | string[]> {
  const fields: Record<string, string | string[]> = Object.create(null)
  for (const name of new Set(params.keys())) {
    const values = params.getAll(name)
    fields[name] = values.length === 1 ? (values[0] as string) : values
  }
  return fields
}

/** Adds what handlers written for Express call on a response. */
export function addResponseMethods(response: http.ServerResponse): void {
  const methods = {
    status(code: number) {
      response.statusCode = code
      return response
    },
    set(name: string | Record<string, string>, value?: string) {
      const headers = typeof name === "string" ? { [name]: value } : name
      for (const [key, one] of Object.entries(headers)) response.setHeader(key, one ?? "")
      return response
    },
    type(contentType: string) {
      const known: Record<string, string> = { html: "text/html", json: "application/json" }
      return methods.set("content-type", known[contentType] ?? contentType)
    },
    json(value: unknown) {
      setDefaultType("application/json; charset=utf-8")
      return endWith(JSON.stringify(value))
    },
    send(value?: unknown) {
      if (typeof value === "string") {
        setDefaultType("text/html; charset=utf-8")
        return endWith(value)
      }
      if (value !== undefined && !ArrayBuffer.isView(value)) return methods.json(value)
      if (value) setDefaultType("application/octet-stream")
      return endWith(value)
    },
    sendStatus(code: number) {
      response.statusCode = code
      setDefaultType("text/plain; charset=utf-8")
      return endWith(String(code))
    },
    redirect(first: number | string, second?: string) {
      response.statusCode = typeof first === "number" ? first : 302
      response.setHeader("location", typeof first === "number" ? (second ?? "/") : first)
      return response.end()
    },
  }
  /** With its length, which Node.js does not send to HEAD by itself. */
  const endWith = (content: string | ArrayBufferView | undefined) => {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content
    if (bytes && !response.headersSent && !response.hasHeader("content-length"))
      response.setHeader("content-length", bytes.byteLength)
    return response.end(bytes)
  }
  const setDefaultType = (type: string) => {
    if (!response.hasHeader("content-type")) response.setHeader("content-type", type)
  }
  const get = (name: string) => response.getHeader(name)
  Object.assign(response, { ...methods, header: methods.set, get })
}
