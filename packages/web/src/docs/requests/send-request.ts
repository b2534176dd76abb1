import { formatBody } from "../../ui/code/print-json.ts"
import type { ApiRequest } from "./request.ts"
import { sessionOptions } from "./session.ts"

/** A received response. */
export interface ApiResponse {
  readonly status: number
  readonly statusText: string
  readonly durationMs: number
  readonly headers: readonly (readonly [string, string])[]
  readonly body: ResponseBody
  readonly bodyBytes: number
  /** The body is longer than the page shows, and the rest was not read. */
  readonly isTruncated: boolean
}

/** A body by the way it is shown; its content is never more than text nodes. */
type ResponseBody =
  | { readonly kind: "none" }
  | { readonly kind: "json"; readonly text: string }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "bytes"; readonly contentType: string }

export interface SendOptions {
  readonly origin: string
  readonly token: string
  /** Whether to send the request as the user who is signed in to the app; a token comes first. */
  readonly usesSession?: boolean
  readonly signal: AbortSignal
}

const limits = {
  /** A response may stream forever; the rest is dropped. */
  bodyBytesMax: 1_000_000,
}

/** Sends the request to the page's own server and reads the response. */
export async function sendRequest(request: ApiRequest, options: SendOptions): Promise<ApiResponse> {
  const startedAt = performance.now()
  const { operation } = request
  const isSession =
    (options.usesSession ?? false) && options.token === "" && operation.auth !== "none"
  const response = await fetch(options.origin + request.path, {
    method: operation.method,
    headers: toHeaders(request, options.token, isSession),
    // Beside a token, a cookie would make a response look authorized that is not.
    credentials: isSession ? sessionOptions().credentials : "omit",
    cache: "no-store",
    referrerPolicy: "no-referrer",
    signal: options.signal,
    ...(request.body ? { body: request.body.text } : {}),
  })
  const { bytes, isTruncated } = await readBytes(response)
  return {
    status: response.status,
    statusText: response.statusText,
    durationMs: performance.now() - startedAt,
    headers: [...response.headers],
    body: toResponseBody(response.headers.get("content-type") ?? "", bytes, isTruncated),
    bodyBytes: bytes.length,
    isTruncated,
  }
}

function toHeaders(request: ApiRequest, token: string, isSession: boolean): Headers {
  const headers = new Headers({ accept: "application/json, */*;q=0.5" })
  if (request.body) headers.set("content-type", request.body.contentType)
  for (const { parameter, text } of request.parameters) {
    if (parameter.location === "header") headers.set(parameter.name, text)
  }
  if (token !== "" && request.operation.auth !== "none")
    headers.set("authorization", `Bearer ${token}`)
  if (isSession)
    for (const [name, value] of Object.entries(sessionOptions().headers)) headers.set(name, value)
  return headers
}

async function readBytes(response: Response): Promise<{ bytes: Uint8Array; isTruncated: boolean }> {
  const chunks: Uint8Array[] = []
  let size = 0
  const reader = response.body?.getReader()
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    chunks.push(part.value)
    size += part.value.length
    if (size <= limits.bodyBytesMax) continue
    await reader?.cancel()
    return { bytes: concat(chunks, limits.bodyBytesMax), isTruncated: true }
  }
  return { bytes: concat(chunks, size), isTruncated: false }
}

function concat(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const whole = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk.subarray(0, size - at), at)
    at += chunk.length
  }
  return whole
}

function toResponseBody(
  contentType: string,
  bytes: Uint8Array,
  isTruncated: boolean,
): ResponseBody {
  if (bytes.length === 0) return { kind: "none" }
  try {
    // Truncation may split a character; otherwise invalid UTF-8 means that the body is not text.
    const text = new TextDecoder("utf-8", { fatal: !isTruncated }).decode(bytes)
    if (text.includes("\0")) return { kind: "bytes", contentType }
    return formatBody(text, contentType)
  } catch {
    return { kind: "bytes", contentType }
  }
}
