import { AppError } from "../domain/app-error.ts"
import type { GatewayLimits } from "./limits.ts"
import type { HeaderRecord } from "./request-headers.ts"

/** The body of a request on its way to a val. */
export interface RequestBody {
  readonly content: ReadableStream<Uint8Array> | Uint8Array | null
  /** In base64, for a replay; null when it is too large to be kept, or does not say how large it is. */
  readonly kept: string | null
  /** More has come than we take: the val was not sent the rest. */
  readonly isTooLarge: boolean
}

type BodyLimits = Pick<GatewayLimits, "requestBytesMax" | "keptBodyBytesMax">

const noBody: RequestBody = { content: null, kept: "", isTooLarge: false }

/** The body: read whole if it is small, else as a stream that ends with an error where the limit is. */
export function readBody(request: Request, known: HeaderRecord, limits: BodyLimits): RequestBody | Promise<RequestBody> {
  const { method } = request
  if (method === "GET" || method === "HEAD") return noBody
  // Where both are sent, or a length that is no number, the server has refused the request before it came here.
  const bytes = known["transfer-encoding"] === undefined ? Number(known["content-length"] ?? 0) : undefined
  if (bytes === 0) return noBody
  if (bytes !== undefined && bytes > limits.requestBytesMax) throw tooLarge(limits.requestBytesMax)
  if (bytes !== undefined && bytes <= limits.keptBodyBytesMax) return readWhole(request)
  const { body } = request
  if (body === null) return noBody
  return bytes === undefined ? new CountedBody(body, limits.requestBytesMax) : { content: body, kept: null, isTooLarge: false }
}

function tooLarge(bytesMax: number): AppError {
  return new AppError("body_too_large", `Cannot take the body: it is larger than ${bytesMax} bytes`)
}

async function readWhole(request: Request): Promise<RequestBody> {
  const content = await request.bytes()
  return { content, kept: Buffer.from(content).toString("base64"), isTooLarge: false }
}

/** A body that does not say how long it is. */
class CountedBody implements RequestBody {
  readonly content: ReadableStream<Uint8Array>
  readonly kept = null
  isTooLarge = false

  constructor(body: ReadableStream<Uint8Array>, bytesMax: number) {
    const reader = body.getReader()
    let bytes = 0
    this.content = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const { done, value } = await reader.read()
          if (done) return controller.close()
          bytes += value.length
          if (bytes <= bytesMax) return controller.enqueue(value)
          this.isTooLarge = true
          controller.error(tooLarge(bytesMax))
          await reader.cancel()
        },
        cancel: (reason) => reader.cancel(reason),
      },
      { highWaterMark: 0 },
    )
  }
}
