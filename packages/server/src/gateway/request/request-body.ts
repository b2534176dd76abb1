import { AppError } from "../../domain/app-error.ts"
import type { Deadlines, Overseen } from "../deadlines.ts"
import type { GatewayLimits } from "../limits.ts"
import type { HeaderRecord } from "./request-headers.ts"

/** The body of a request on its way to a val. */
export interface RequestBody {
  readonly content: ReadableStream<Uint8Array> | Uint8Array | null
  /**
   * In base64, for a replay; null when it is too large to be kept, or does not say how large it is.
   */
  readonly kept: string | null
  /** Why the val was not sent the rest of it: there was too much, or nothing more came. */
  readonly failure: AppError | undefined
  /** The run is over, and nothing more of it is wanted. */
  stop(): void
}

type BodyLimits = Pick<
  GatewayLimits,
  "requestBytesMax" | "keptBodyBytesMax" | "bodyMsMax" | "bodyStalledMsMax"
>

/** What reading a body needs beside the request. */
export interface BodyDeps {
  readonly limits: BodyLimits
  readonly deadlines: Deadlines
  /** Takes a place among the large bodies on their way to the val; the function gives it back. */
  takePlace(): () => void
}

const noBody: RequestBody = { content: null, kept: "", failure: undefined, stop() {} }

/**
 * The body: read whole if it is small, before there is a run, else as a stream. A stream has a
 * place among a bounded number of them, and breaks where the limit is, or when nothing more comes
 * of it.
 */
export function readBody(
  request: Request,
  known: HeaderRecord,
  deps: BodyDeps,
): RequestBody | Promise<RequestBody> {
  const { method } = request
  const { limits } = deps
  if (method === "GET" || method === "HEAD") return noBody
  // Where both are sent, or a length that is no number, the server has refused the request before
  // it came here.
  const bytes =
    known["transfer-encoding"] === undefined ? Number(known["content-length"] ?? 0) : undefined
  if (bytes === 0) return noBody
  if (bytes !== undefined && bytes > limits.requestBytesMax) throw tooLarge(limits.requestBytesMax)
  if (bytes !== undefined && bytes <= limits.keptBodyBytesMax) return readWhole(request, deps)
  const { body } = request
  return body === null ? noBody : new StreamedBody(body, deps)
}

function tooLarge(bytesMax: number): AppError {
  return new AppError("body_too_large", `Cannot take the body: it is larger than ${bytesMax} bytes`)
}

async function readWhole(request: Request, { deadlines, limits }: BodyDeps): Promise<RequestBody> {
  const late = Promise.withResolvers<never>()
  const endMs = performance.now() + limits.bodyMsMax
  const overseen = {
    check(nowMs: number) {
      if (nowMs <= endMs) return false
      late.reject(
        new AppError(
          "body_timed_out",
          `Cannot take the body: it was not all here after ${limits.bodyMsMax / 1000} seconds`,
        ),
      )
      return true
    },
  }
  const reading = request.bytes()
  deadlines.add(overseen)
  try {
    const content = await Promise.race([reading, late.promise])
    return { ...noBody, content, kept: Buffer.from(content).toString("base64") }
  } finally {
    deadlines.remove(overseen)
    reading.catch(() => {})
  }
}

/** A body that is too large to be read before its run begins, or does not say how large it is. */
class StreamedBody implements RequestBody, Overseen {
  readonly content: ReadableStream<Uint8Array>
  readonly kept = null
  failure: AppError | undefined
  readonly #deps: BodyDeps
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #giveBack: () => void
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  #bytes = 0
  /** Since when the val wants more and nothing has come. */
  #wantedMs: number | undefined

  constructor(body: ReadableStream<Uint8Array>, deps: BodyDeps) {
    this.#giveBack = deps.takePlace()
    this.#deps = deps
    this.#reader = body.getReader()
    const source = {
      start: (controller: ReadableStreamDefaultController<Uint8Array>) => {
        this.#controller = controller
      },
      pull: (controller: ReadableStreamDefaultController<Uint8Array>) => this.#pull(controller),
      cancel: async (reason: unknown) => {
        this.stop()
        await this.#reader.cancel(reason)
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
        `Cannot take the body: nothing of it came for ${bodyStalledMsMax / 1000} seconds`,
      ),
    )
    return true
  }

  stop(): void {
    this.#wantedMs = undefined
    this.#deps.deadlines.remove(this)
    this.#giveBack()
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    this.#wantedMs = performance.now()
    const { done, value } = await this.#reader.read().catch((error: unknown) => {
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
  }

  #fail(failure: AppError): void {
    this.failure = failure
    this.stop()
    this.#controller?.error(failure)
    this.#reader.cancel().catch(() => {})
  }
}
