import { nextReadTurn, PieceRate, type Watchdog, type Watched } from "@hamlet/kit"
import { AppError } from "../../domain/app-error.ts"
import type { GatewayLimits } from "../limits.ts"
import type { HeaderRecord } from "./request-headers.ts"

/** The body of a request to a val. */
export interface RequestBody {
  readonly content: ReadableStream<Uint8Array> | Uint8Array | null
  /** In base64, for a replay; null when it is too large to be stored, or of unknown size. */
  readonly storedCopy: string | null
  /** The reason why the val did not receive all of it: it was too large, or it stalled. */
  readonly failure: AppError | undefined
  /** Called when the run has ended: the rest of the body is not needed. */
  stop(): void
}

type BodyLimits = Pick<
  GatewayLimits,
  "requestBytesMax" | "storedBodyBytesMax" | "bodyMsMax" | "bodyStalledMsMax"
>

/** The dependencies of `readRequestBody`. */
export interface BodyDeps {
  readonly limits: BodyLimits
  readonly deadlines: Watchdog
  /** The address of the client. Clients take turns. */
  readonly sender: string
  /** Counts an upload to the val; returns the function that releases it. */
  acquireUpload(): () => void
}

/** A request without a body. */
export const noBody: RequestBody = { content: null, storedCopy: "", failure: undefined, stop() {} }

/** Whether a request with this method has a body for the val, if it has one at all. */
export function mayHaveBody(method: string): boolean {
  return method !== "GET" && method !== "HEAD"
}

/**
 * Reads a small body whole, before its run begins, and returns a larger one as a stream. The number
 * of streams is limited; a stream fails when it is too large or stalls.
 */
export async function readRequestBody(
  request: Request,
  headers: HeaderRecord,
  deps: BodyDeps,
): Promise<RequestBody> {
  const { limits } = deps
  // Bun has refused requests with both headers, or with a length that is not a number.
  const bytes =
    headers["transfer-encoding"] === undefined ? Number(headers["content-length"] ?? 0) : undefined
  if (bytes === 0) return noBody
  if (bytes !== undefined && bytes > limits.requestBytesMax) throw tooLarge(limits.requestBytesMax)
  if (bytes !== undefined && bytes <= limits.storedBodyBytesMax) return readWhole(request, deps)
  return new StreamedBody(request, deps)
}

function tooLarge(bytesMax: number): AppError {
  return new AppError(
    "body_too_large",
    `Cannot accept the body: it is larger than ${bytesMax} bytes`,
  )
}

async function readWhole(request: Request, { deadlines, limits }: BodyDeps): Promise<RequestBody> {
  const expiry = Promise.withResolvers<never>()
  const endMs = performance.now() + limits.bodyMsMax
  const deadline = {
    check(nowMs: number) {
      if (nowMs <= endMs) return false
      expiry.reject(
        new AppError(
          "body_timed_out",
          `Cannot accept the body: it did not arrive within ${limits.bodyMsMax / 1000} seconds`,
        ),
      )
      return true
    },
  }
  const reading = request.bytes()
  deadlines.add(deadline)
  try {
    const content = await Promise.race([reading, expiry.promise])
    return { ...noBody, content, storedCopy: Buffer.from(content).toString("base64") }
  } finally {
    deadlines.remove(deadline)
    reading.catch(() => {})
  }
}

/** A body that is too large to be read before its run begins, or of unknown size. */
class StreamedBody implements RequestBody, Watched {
  readonly content: ReadableStream<Uint8Array>
  readonly storedCopy = null
  failure: AppError | undefined
  readonly #deps: BodyDeps
  readonly #request: Request
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  readonly #release: () => void
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  readonly #rate = new PieceRate()
  #bytes = 0
  #isStopped = false
  /** When the val asked for the next chunk; undefined while it does not wait. */
  #wantedMs: number | undefined

  constructor(request: Request, deps: BodyDeps) {
    this.#release = deps.acquireUpload()
    this.#deps = deps
    this.#request = request
    const source = {
      start: (controller: ReadableStreamDefaultController<Uint8Array>) => {
        this.#controller = controller
      },
      pull: (controller: ReadableStreamDefaultController<Uint8Array>) => this.#pull(controller),
      cancel: async (reason: unknown) => {
        this.stop()
        await (this.#reader ?? this.#request.body)?.cancel(reason)
      },
    }
    this.content = new ReadableStream<Uint8Array>(source, { highWaterMark: 0 })
    deps.deadlines.add(this)
  }

  check(nowMs: number): boolean {
    const { bodyStalledMsMax } = this.#deps.limits
    if (this.#wantedMs === undefined || nowMs - this.#wantedMs <= bodyStalledMsMax) return false
    this.#fail(
      new AppError(
        "body_timed_out",
        `Cannot accept the body: nothing arrived for ${bodyStalledMsMax / 1000} seconds`,
      ),
    )
    return true
  }

  stop(): void {
    this.#isStopped = true
    this.#wantedMs = undefined
    this.#deps.deadlines.remove(this)
    this.#release()
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    await nextReadTurn(this.#deps.sender)
    if (this.#isStopped) return
    this.#wantedMs = performance.now()
    const { done, value } = await this.#read().catch((error: unknown) => {
      this.stop()
      throw error
    })
    this.#wantedMs = undefined
    if (this.failure) return
    if (done) {
      this.stop()
      controller.close()
      return
    }
    this.#bytes += value.length
    const { requestBytesMax } = this.#deps.limits
    if (this.#bytes > requestBytesMax) this.#fail(tooLarge(requestBytesMax))
    else controller.enqueue(value)
    await this.#rate.count(value.length)
  }

  /** The body is touched late, as in `readPieces`. */
  async #read() {
    this.#reader ??= this.#request.body?.getReader()
    return (await this.#reader?.read()) ?? { done: true as const, value: undefined }
  }

  #fail(failure: AppError): void {
    this.failure = failure
    this.stop()
    this.#controller?.error(failure)
    this.#reader?.cancel().catch(() => {})
  }
}
