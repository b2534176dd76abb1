import { sessionHeader } from "@hamlet/contract/client"
import { formatBody } from "../../ui/code/print-json.ts"
import { readPageKey } from "../../ui/page-key.ts"
import type { ApiRequest } from "./request.ts"

/** A received response. */
export interface ApiResponse {
  readonly status: number
  readonly statusText: string
  readonly durationMs: number
  readonly headers: readonly (readonly [string, string])[]
  /** Undefined when it is not text. Its content is never more than text nodes. */
  readonly body: ReturnType<typeof formatBody> | undefined
  readonly bodyBytes: number
  /** The body is longer than the page shows, and the rest was not read. */
  readonly isTruncated: boolean
}

interface SendOptions {
  readonly origin: string
  /** Sends the request with this token; if empty, with the session of the app. */
  readonly token: string
  readonly signal: AbortSignal
}

const limits = {
  /** A response may stream forever; the rest is dropped. */
  bodyBytesMax: 1_000_000,
}

/** Sends the request to the page's own server and reads the response. */
export async function sendRequest(request: ApiRequest, options: SendOptions): Promise<ApiResponse> {
  const startedAt = performance.now()
  const { method, path, body, needsToken } = request
  const isSession = needsToken && options.token === ""
  const headers = new Headers({ accept: "application/json, */*;q=0.5" })
  for (const [name, value] of request.headers) headers.set(name, value)
  if (isSession) headers.set(sessionHeader, readPageKey())
  else if (needsToken) headers.set("authorization", `Bearer ${options.token}`)
  const response = await fetch(options.origin + path, {
    method,
    headers,
    // Beside a token, a cookie would make a response look authorized that is not.
    credentials: isSession ? "same-origin" : "omit",
    cache: "no-store",
    referrerPolicy: "no-referrer",
    signal: options.signal,
    ...(body ? { body: body.text } : {}),
  })
  const { bytes, isTruncated } = await readBytes(response)
  return {
    status: response.status,
    statusText: response.statusText,
    durationMs: performance.now() - startedAt,
    headers: [...response.headers],
    body: toText(response.headers.get("content-type") ?? "", bytes, isTruncated),
    bodyBytes: bytes.length,
    isTruncated,
  }
}

async function readBytes(response: Response): Promise<{ bytes: Uint8Array; isTruncated: boolean }> {
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let size = 0
  const reader = response.body?.getReader()
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    chunks.push(part.value)
    size += part.value.length
    if (size <= limits.bodyBytesMax) continue
    await reader?.cancel()
    break
  }
  const bytes = await new Blob(chunks).bytes()
  const isTruncated = size > limits.bodyBytesMax
  return { bytes: bytes.subarray(0, limits.bodyBytesMax), isTruncated }
}

function toText(contentType: string, bytes: Uint8Array, isTruncated: boolean): ApiResponse["body"] {
  try {
    // Truncation may split a character; otherwise invalid UTF-8 means that the body is not text.
    const text = new TextDecoder("utf-8", { fatal: !isTruncated }).decode(bytes)
    return text.includes("\0") ? undefined : formatBody(text, contentType)
  } catch {
    return undefined
  }
}
