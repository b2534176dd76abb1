import type { PageRoom } from "@hamlet/database/page"
import { ByteBudget, type HeldBytes, Watchdog, type Watched } from "@hamlet/kit"
import { AppError } from "../../domain/app-error.ts"
import type { ApiResponse } from "./api-response.ts"

/** The limits of responses, for clients in `docs/security-model.md`. */
export const roomLimits = {
  /** A list or a difference ends before the item with which its JSON would be longer. */
  pageBytesMax: 4_194_304,
  /** What a page may use while it is made: texts that were read, and their JSON. */
  pageRoomBytes: 8_388_608,
  /** A body up to this size is sent at once, and takes no room. */
  freeBytesMax: 65_536,
  /** The bodies of all responses until they are sent, and those of one account or address. */
  bytesMax: 67_108_864,
  bytesPerOwnerMax: 16_777_216,
  /** What waits for its turn: bodies that are made, and pages with the short texts of their rows. */
  waitingMax: 1_000,
  waitingPageBytes: 2_097_152,
  waitingBytesMax: 100_663_296,
  waitingBytesPerKeyMax: 50_331_648,
  waitMsMax: 20_000,
  /** A client gets a body in parts of this size. */
  partBytes: 65_536,
  /** How long it may leave one unread. */
  stalledMsMax: 60_000,
  /** While others wait for room, a client that has taken longer than `slowMsMin` must be as fast as this. */
  bytesPerSecondMin: 32_768,
  slowMsMin: 5_000,
  /** Interval at which these times are checked. */
  sweepMs: 1_000,
}

export type RoomLimits = Readonly<typeof roomLimits>

/**
 * Limits the memory that responses take, from the moment in which long texts are read until the
 * client has read the body.
 */
export class ResponseRooms {
  readonly limits: RoomLimits
  readonly budget: ByteBudget
  readonly senders: Watchdog

  constructor(limits: RoomLimits = roomLimits) {
    // A copy, so that a test can change them.
    this.limits = { ...limits }
    this.budget = new ByteBudget(this.limits, tooMuch)
    this.senders = new Watchdog(limits.sweepMs)
  }

  /** The room of one request; `owner` is its account, or else its address. */
  open(owner: () => string, request: Request): ResponseRoom {
    return new ResponseRoom(this, owner, request)
  }
}

/** The memory of one response. It is taken when the response proves to be large, and released when it is sent. */
export class ResponseRoom implements PageRoom {
  readonly #rooms: ResponseRooms
  readonly #owner: () => string
  readonly #request: Request
  #held: HeldBytes | undefined

  constructor(rooms: ResponseRooms, owner: () => string, request: Request) {
    this.#rooms = rooms
    this.#owner = owner
    this.#request = request
  }

  get bytesMax(): number {
    return this.#rooms.limits.pageBytesMax
  }

  /** Waits until there is memory for a page. Once is enough. */
  async take(): Promise<void> {
    const { pageRoomBytes, waitingPageBytes } = this.#rooms.limits
    this.#held ??= await this.#acquire(pageRoomBytes, waitingPageBytes)
  }

  /** The response as it is sent: a large body in parts, as the client reads them. */
  async fit(response: ApiResponse): Promise<ApiResponse> {
    const { body, stream } = response
    const { freeBytesMax } = this.#rooms.limits
    const isFree = body === null || stream !== undefined || Buffer.byteLength(body) <= freeBytesMax
    if (isFree || this.#request.method === "HEAD") {
      this.release()
      return response
    }
    const bytes = typeof body === "string" ? Buffer.from(body) : body
    if (this.#held) this.#held.resize(bytes.length)
    else this.#held = await this.#acquire(bytes.length)
    return {
      ...response,
      headers: { ...response.headers, "content-length": String(bytes.length) },
      body: null,
      stream: new BodySender(this.#rooms, bytes, this.#held).stream,
    }
  }

  /** Calling it again does nothing. */
  release(): void {
    this.#held?.release()
  }

  async #acquire(bytes: number, waitingBytes = bytes): Promise<HeldBytes> {
    const { budget } = this.#rooms
    const owner = this.#owner()
    const held = budget.tryAcquire(owner, bytes)
    if (held) return held
    const { signal } = this.#request
    return budget.acquire(owner, bytes, signal, waitingBytes).catch((error: unknown) => {
      throw signal.aborted ? gone(error) : error
    })
  }
}

function tooMuch(): AppError {
  return new AppError(
    "overloaded",
    "Cannot respond: too many large responses are being sent; ask for fewer at the same time, or for fewer items",
  )
}

/** The error of a client that has left, which is only logged. */
function gone(cause: unknown): AppError {
  return new AppError("overloaded", "Cannot respond: the client has disconnected", { cause })
}

/** Sends a body part by part at the pace of the client, and then gives its bytes back. */
class BodySender implements Watched {
  readonly stream: ReadableStream<Uint8Array>
  readonly #rooms: ResponseRooms
  readonly #held: HeldBytes
  readonly #startedMs = performance.now()
  #bytes: Uint8Array | undefined
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  #sent = 0
  /** When the current part was offered to the client. */
  #offeredMs = this.#startedMs

  constructor(rooms: ResponseRooms, bytes: Uint8Array, held: HeldBytes) {
    this.#rooms = rooms
    this.#bytes = bytes
    this.#held = held
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller
        },
        pull: () => this.#offer(),
        cancel: () => this.#end(),
      },
      { highWaterMark: 0 },
    )
    rooms.senders.add(this)
  }

  /** Ends the response of a client that is too slow: it keeps memory that others need. */
  check(nowMs: number): boolean {
    const { stalledMsMax, slowMsMin, bytesPerSecondMin } = this.#rooms.limits
    const ms = nowMs - this.#startedMs
    const isSlow = ms > slowMsMin && (this.#sent / ms) * 1_000 < bytesPerSecondMin
    const isStalled = nowMs - this.#offeredMs > stalledMsMax
    if (this.#bytes && (isStalled || (isSlow && this.#rooms.budget.waiting > 0))) {
      this.#end()
      // Bun prints any other error of a stream.
      this.#controller?.error(undefined)
    }
    return this.#bytes === undefined
  }

  #offer(): void {
    if (!this.#bytes) return
    const part = this.#bytes.subarray(this.#sent, this.#sent + this.#rooms.limits.partBytes)
    this.#sent += part.length
    this.#offeredMs = performance.now()
    this.#controller?.enqueue(part)
    if (this.#sent < this.#bytes.length) return
    this.#end()
    this.#controller?.close()
  }

  #end(): void {
    this.#bytes = undefined
    this.#held.release()
    this.#rooms.senders.remove(this)
  }
}
