import { toOwnJson } from "@hamlet/kit"

/** The result of a handler. Unlike a `Response`, it can be stored and sent again. */
export interface ApiResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | null
  /** Instead of a body. A response with a stream can be sent only once. */
  readonly stream?: ReadableStream<Uint8Array>
}

const jsonType = "application/json; charset=utf-8"

/** A JSON response. */
export function json(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): ApiResponse {
  return { status, headers: { "content-type": jsonType, ...headers }, body: toOwnJson(body) }
}

/** A JSON response whose body is already serialized. */
export function jsonText(status: number, body: string | Uint8Array): ApiResponse {
  return { status, headers: { "content-type": jsonType }, body }
}

/** A response without a body. */
export function noContent(): ApiResponse {
  return { status: 204, headers: {}, body: null }
}

/** A handler that responds without a body when the work is done. */
export function done<OneCall>(work: (call: OneCall) => Promise<unknown>) {
  return async (call: OneCall): Promise<ApiResponse> => {
    await work(call)
    return noContent()
  }
}

/** A response with another content type. */
export function content(
  contentType: string,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): ApiResponse {
  return { status: 200, headers: { "content-type": contentType, ...headers }, body }
}

/**
 * A stream of what `next` returns, up to undefined. It is asked only when the client has read what came
 * before, so that a slow client costs no memory. After an error the connection is closed mid-response: the
 * client must not take what it has for complete.
 */
export function toBodyStream(
  next: () => Promise<Uint8Array | undefined>,
  onCancel: () => unknown,
  onError: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const bytes = await next()
          if (bytes) controller.enqueue(bytes)
          else controller.close()
        } catch (error) {
          onError(error)
          // Bun prints any other error than undefined.
          controller.error(undefined)
        }
      },
      cancel: async () => void (await onCancel()),
    },
    { highWaterMark: 0 },
  )
}
