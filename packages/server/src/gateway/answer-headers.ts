import { dropNamed } from "./request-headers.ts"

/** What is between us and the val, what only we may tell a client, and what would concern other vals or the API. */
const dropped = new Set([
  "alt-svc",
  "clear-site-data",
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "x-request-id",
  "x-run-id",
])

/** What the gateway has to know of the headers of an answer. */
export interface AnswerHead {
  /** Of the body; undefined when the val did not say, or said it in a way that cannot be relied on. */
  readonly length: number | undefined
  readonly hasType: boolean
}

/** Makes the headers of an answer fit for a client, in place. Undefined when there are more of them than we pass on. */
export function prepareAnswerHeaders(headers: Headers, runId: string, bytesMax: number): AnswerHead | undefined {
  const known = (headers as Headers & { toJSON(): Record<string, string | string[]> }).toJSON()
  let bytes = 0
  for (const name in known) {
    bytes += name.length + (known[name]?.length ?? 0)
    if (dropped.has(name) || name.startsWith("x-hamlet-")) headers.delete(name)
  }
  const { connection } = known
  if (typeof connection === "string") dropNamed(headers, connection)
  if (known["set-cookie"] !== undefined) bytes += keepCookiesAtHome(headers)
  if (bytes > bytesMax) return undefined
  headers.set("x-run-id", runId)
  const length = known["content-length"]
  const hasType = known["content-type"] !== undefined
  // With both, the length is not the one that counts; relying on it would mean to read whatever else the val sends.
  if (known["transfer-encoding"] !== undefined || typeof length !== "string" || !/^\d{1,15}$/.test(length)) {
    if (length !== undefined) headers.delete("content-length")
    return { length: undefined, hasType }
  }
  return { length: Number(length), hasType }
}

/** A val sets cookies for its own host, not for its neighbours or the API. Returns how many bytes the cookies take. */
function keepCookiesAtHome(headers: Headers): number {
  const cookies = headers.getSetCookie()
  let bytes = 0
  for (const cookie of cookies) bytes += cookie.length
  if (!cookies.some((cookie) => /domain/i.test(cookie))) return bytes
  headers.delete("set-cookie")
  for (const cookie of cookies) headers.append("set-cookie", withoutDomain(cookie))
  return bytes
}

function withoutDomain(cookie: string): string {
  const [pair = "", ...attributes] = cookie.split(";")
  return [pair, ...attributes.filter((attribute) => !/^\s*domain\s*(=|$)/i.test(attribute))].join(";")
}
