import { ApiError } from "./errors.ts"

/**
 * The body of a response as text. Throws an ApiError instead of reading more than `bytesMax`: the other
 * end may be any server, and send without an end.
 */
export async function readText(
  response: Response,
  bytesMax: number,
  about: string,
): Promise<string> {
  const reader = response.body?.getReader()
  if (!reader) return response.text()
  const decoder = new TextDecoder()
  let bytes = 0
  let text = ""
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    bytes += value.length
    if (bytes > bytesMax) {
      void reader.cancel().catch(() => {})
      throw toTooLarge(response, bytesMax, about)
    }
    text += decoder.decode(value, { stream: true })
  }
}

/** The error about a response that is not read further. */
export function toTooLarge(response: Response, bytesMax: number, about: string): ApiError {
  return new ApiError(`Cannot ${about}: the response is larger than ${bytesMax} bytes`, {
    status: response.status,
    code: "unknown",
  })
}
