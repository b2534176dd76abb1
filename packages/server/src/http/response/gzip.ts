import type { ApiResponse } from "./api-response.ts"

const squeezed = new WeakMap<Uint8Array, Uint8Array>()

/**
 * The answer compressed, where the client takes it. For bodies that stay the same: each is
 * compressed once.
 */
export function gzip(answer: ApiResponse, request: Request): ApiResponse {
  const { body } = answer
  if (!(body instanceof Uint8Array)) return answer
  const headers = { ...answer.headers, vary: "accept-encoding" }
  if (!/\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/.test(request.headers.get("accept-encoding") ?? ""))
    return { ...answer, headers }
  const small = squeezed.get(body) ?? Bun.gzipSync(new Uint8Array(body))
  squeezed.set(body, small)
  return { ...answer, headers: { ...headers, "content-encoding": "gzip" }, body: small }
}
