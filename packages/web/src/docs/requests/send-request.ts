import { isJsonType } from "./body-draft.ts"
import { printJson } from "./print-json.ts"
import type { ApiRequest } from "./request.ts"

/** What came back. */
export interface Answer {
  readonly status: number
  readonly statusText: string
  readonly durationMs: number
  readonly headers: readonly (readonly [string, string])[]
  readonly body: AnswerBody
  readonly bodyBytes: number
  /** The rest was not read: the body is longer than the page shows. */
  readonly isTruncated: boolean
}

/** A body by the way it can be shown; whatever it holds is only ever shown as text. */
type AnswerBody =
  | { readonly kind: "none" }
  | { readonly kind: "json"; readonly text: string }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "bytes"; readonly contentType: string }

/** With what a request is sent. */
export interface SendOptions {
  readonly origin: string
  readonly token: string
  readonly signal: AbortSignal
}

const limits = {
  /** An answer may stream forever; more than this is not kept. */
  bodyBytesMax: 1_000_000,
}

/** Sends the request to the page's own server and reads the answer. */
export async function sendRequest(request: ApiRequest, options: SendOptions): Promise<Answer> {
  const startedAt = performance.now()
  const response = await fetch(options.origin + request.path, {
    method: request.operation.method,
    headers: toHeaders(request, options.token),
    // The API knows tokens only. A cookie that came along would make an answer look authorized that
    // is not.
    credentials: "omit",
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
    body: toAnswerBody(response.headers.get("content-type") ?? "", bytes, isTruncated),
    bodyBytes: bytes.length,
    isTruncated,
  }
}

function toHeaders(request: ApiRequest, token: string): Headers {
  const headers = new Headers({ accept: "application/json, */*;q=0.5" })
  if (request.body) headers.set("content-type", request.body.contentType)
  for (const { parameter, text } of request.parameters) {
    if (parameter.place === "header") headers.set(parameter.name, text)
  }
  if (token !== "" && request.operation.auth !== "none")
    headers.set("authorization", `Bearer ${token}`)
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

function toAnswerBody(contentType: string, bytes: Uint8Array, isTruncated: boolean): AnswerBody {
  if (bytes.length === 0) return { kind: "none" }
  try {
    // A cut may go through a character; otherwise bytes that are no UTF-8 are no text.
    const text = new TextDecoder("utf-8", { fatal: !isTruncated }).decode(bytes)
    if (text.includes("\0")) return { kind: "bytes", contentType }
    const printed = isJsonType(contentType) ? printJson(text) : undefined
    return printed === undefined ? { kind: "text", text } : { kind: "json", text: printed }
  } catch {
    return { kind: "bytes", contentType }
  }
}
