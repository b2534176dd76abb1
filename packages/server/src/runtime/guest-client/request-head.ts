import type { HeaderList, SeatRequest } from "../../domain/execution.ts"

/** A request as it is sent to a process: the path says for which run it is. */
export interface GuestRequest extends Pick<SeatRequest, "method" | "host" | "headers" | "body"> {
  readonly path: string
}

/** The head of a request, and how its body is sent. */
export interface RequestHead {
  readonly text: string
  /** Bytes of the body; undefined for a stream in chunks. */
  readonly length: number | undefined
}

const tokenPattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** Whatever would end a line, and what is no byte. */
const notInValue = /[^\t\x20-\xff]/
/** Whatever would end a path, and what belongs into it in another form. */
const notInPath = /[^\x21-\x7e]/

/** Writes the head of a request. Undefined when there is something in it that would make another request of it. */
export function toRequestHead({ method, host, path, headers, body }: GuestRequest): RequestHead | undefined {
  if (!tokenPattern.test(method) || notInPath.test(path) || notInPath.test(host)) return undefined
  let text = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\n`
  for (const header of headers) {
    const [name, value] = header
    if (isOurs(name)) continue
    if (!isProperHeader(header)) return undefined
    text += `${name}: ${value}\r\n`
  }
  if (body === null) return { text: hasNoBody(method) ? `${text}\r\n` : `${text}content-length: 0\r\n\r\n`, length: 0 }
  const length = body instanceof Uint8Array ? body.length : findLength(headers)
  return { text: `${text}${length === undefined ? "transfer-encoding: chunked" : `content-length: ${length}`}\r\n\r\n`, length }
}

/** Whether it is one header, and stays one when it is written down. */
export function isProperHeader([name, value]: HeaderList[number]): boolean {
  return tokenPattern.test(name) && !notInValue.test(value)
}

/** Where a body ends is for the one to say who sends it. */
function isOurs(name: string): boolean {
  return name === "host" || name === "content-length" || name === "transfer-encoding" || name === "connection"
}

export function hasNoBody(method: string): boolean {
  return method === "GET" || method === "HEAD"
}

function findLength(headers: HeaderList): number | undefined {
  const value = headers.find(([name]) => name === "content-length")?.[1]
  return value !== undefined && /^\d{1,15}$/.test(value) ? Number(value) : undefined
}
