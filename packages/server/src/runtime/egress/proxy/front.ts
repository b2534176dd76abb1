import { HeadBuffer } from "../../http1/head-buffer.ts"
import type { EgressLimits } from "../egress-limits.ts"
import { Refusal, toBlockedAnswer } from "../policy/refusal.ts"
import { Outlet } from "./outlet.ts"
import { RequestBody } from "./request-body.ts"
import { parseRequestHead, type RequestHead } from "./request-head.ts"

/** Hears what comes of one request behind its head. */
export interface RequestListener {
  /** Whoever has begun it knows it by now. */
  start(): void
  onBody(bytes: Uint8Array): void
  onBodyEnd(): void
  /** There is room again for what is written. */
  onRoom(): void
  /** What has come cannot be right. */
  onInvalid(refusal: Refusal): void
  /** The connection is no more. */
  onGone(): void
}

/** Whoever takes requests in. */
export interface FrontKeeper {
  readonly limits: EgressLimits
  accept(front: Front, head: RequestHead): RequestListener
  /** A request could not even be read. */
  noteUnread(): void
  forgetFront(front: Front): void
}

const pipelined = new Refusal(400, "there is something behind it that does not belong to it")

/**
 * A connection from the sandbox: one request at a time.
 *
 *   idle ──▶ head ──▶ busy ──▶ (discarding) ──▶ idle        nobody wants the rest of a body once there is an answer
 *              └────────┴──▶ closing ──▶ closed             the last answer is still being written, and nothing more is heard
 */
export class Front {
  readonly #keeper: FrontKeeper
  readonly #socket: Bun.Socket<Front>
  readonly #outlet = new Outlet(() => this.#listener?.onRoom())
  readonly #head = new HeadBuffer()
  #state: "idle" | "head" | "busy" | "discarding" | "closing" | "closed" = "idle"
  #sinceMs = performance.now()
  #listener: RequestListener | undefined
  #body: RequestBody | undefined
  /** What came behind a head before anybody wanted it. */
  #held: Buffer | undefined
  #isFlowing = false
  #isPaused = false
  #isKept = true
  #discardedBytes = 0
  /** An answer that waits for the end of the body. */
  #late: Uint8Array | undefined

  constructor(socket: Bun.Socket<Front>, keeper: FrontKeeper) {
    this.#keeper = keeper
    this.#socket = socket
    this.#outlet.open(socket)
  }

  get isIdle(): boolean {
    return this.#state === "idle"
  }

  /** Whether what is written waits to be read. */
  get isFull(): boolean {
    return this.#outlet.isFull
  }

  take(bytes: Buffer): void {
    if (this.#state === "idle" || this.#state === "head") this.#readHead(bytes)
    else if (this.#state === "busy" && !this.#isFlowing) this.#hold(bytes)
    else if (this.#state === "busy") this.#readBody(bytes)
    else if (this.#state === "discarding" || this.#state === "closing") this.#discard(bytes)
  }

  drain(): void {
    this.#outlet.drain()
  }

  closed(): void {
    if (this.#state === "closed") return
    this.#state = "closed"
    this.#outlet.close()
    this.#head.clear()
    this.#held = this.#late = undefined
    this.#keeper.forgetFront(this)
    const listener = this.#listener
    this.#listener = undefined
    listener?.onGone()
  }

  /** Lets the body come. */
  flow(): void {
    if (this.#state !== "busy") return
    this.#isFlowing = true
    const held = this.#held
    this.#held = undefined
    this.resume()
    if (held) this.#readBody(held)
  }

  /** From here on there is no request any more, only bytes. */
  tunnel(): void {
    this.#body = new RequestBody(Number.POSITIVE_INFINITY, this.#keeper.limits)
    this.#isFlowing = true
    this.#isKept = false
  }

  pause(): void {
    if (this.#isPaused || this.#state === "closed") return
    this.#isPaused = true
    this.#socket.pause()
  }

  resume(): void {
    if (!this.#isPaused || this.#held || this.#state === "closed") return
    this.#isPaused = false
    this.#socket.resume()
  }

  /** A text is Latin-1. */
  write(part: Uint8Array | string): void {
    this.#outlet.add(part)
  }

  /**
   * The answer is written, and there may be another request. An answer that is given here is
   * written when the body has come: Deno stumbles over one that comes earlier, and takes five
   * seconds now and then to send the next request.
   */
  finish(late?: Uint8Array): void {
    if (this.#state !== "busy") return
    this.#listener = undefined
    this.#late = late
    if (!this.#isKept) return void this.#close()
    this.#enter("discarding")
    this.#discardedBytes = 0
    const held = this.#held
    this.#held = undefined
    this.resume()
    if (this.#body?.isOver) this.#rest()
    else if (held) this.#discard(held)
  }

  /** Ends it in the middle of whatever there is. */
  terminate(): void {
    if (this.#state === "closed") return
    // What was said before has a right to be heard, as far as it goes.
    this.#outlet.finish(() => {})
    this.closed()
    this.#socket.terminate()
  }

  /** Ends what has taken its time. */
  sweep(nowMs: number): void {
    if (this.#state === "busy") return
    const { keptMsMax, headMsMax, lingerMsMax, lateMsMax } = this.#keeper.limits
    if (this.#late && nowMs - this.#sinceMs > lateMsMax) this.#speak()
    const msMax =
      this.#state === "idle" ? keptMsMax : this.#state === "closing" ? lingerMsMax : headMsMax
    if (nowMs - this.#sinceMs > msMax) this.terminate()
  }

  #readHead(bytes: Buffer): void {
    const { headBytesMax } = this.#keeper.limits
    if (this.#state === "idle") this.#enter("head")
    const { all, end, after } = this.#head.push(bytes)
    if (end > headBytesMax || (end < 0 && all.length > headBytesMax))
      return void this.#refuse(`its head has more than ${headBytesMax} bytes`)
    if (end < 0) return
    const head = parseRequestHead(all.toString("latin1", 0, end))
    if (typeof head === "string") return void this.#refuse(head)
    const body = new RequestBody(head.framing, this.#keeper.limits)
    this.#enter("busy")
    this.#body = body
    this.#isKept = head.isKept
    this.#isFlowing = false
    this.#listener = this.#keeper.accept(this, head)
    if (after < all.length) this.#hold(all.subarray(after))
    this.#listener?.start()
  }

  #hold(bytes: Buffer): void {
    if (this.#body?.isOver) return void this.#refuseRest(pipelined)
    // It came in the same read as the head, or in the one that was under way when the connection
    // was told to wait.
    this.#held = this.#held ? Buffer.concat([this.#held, bytes]) : bytes
    if (this.#held !== bytes) this.pause()
  }

  #readBody(bytes: Buffer): void {
    const body = this.#body as RequestBody
    if (body.isOver) return void this.#refuseRest(pipelined)
    const decoded = body.read(bytes)
    if (typeof decoded === "string") return void this.#refuseRest(new Refusal(400, decoded))
    if (decoded.content.length > 0) this.#listener?.onBody(decoded.content)
    if (!body.isOver) return
    if (decoded.read < bytes.length) this.#refuseRest(pipelined)
    else this.#listener?.onBodyEnd()
  }

  /** Where the next request would begin is anybody's guess. */
  #refuseRest(refusal: Refusal): void {
    this.#isKept = false
    this.#listener?.onInvalid(refusal)
  }

  #discard(bytes: Buffer): void {
    const decoded = this.#state === "discarding" ? this.#body?.read(bytes) : { read: bytes.length }
    if (typeof decoded !== "object") return void this.terminate()
    this.#discardedBytes += decoded.read
    if (this.#discardedBytes > this.#keeper.limits.discardedBytesMax) {
      // Whoever is in the middle of saying something hears of the answer only when it has to wait;
      // ending it at once would be all it hears of.
      if (this.#state === "discarding") this.#enter("closing")
      this.#speak()
      this.pause()
    } else if (this.#state === "discarding" && this.#body?.isOver) {
      this.#rest()
      // This one is answered: what follows is a request of its own.
      if (decoded.read < bytes.length) this.#readHead(bytes.subarray(decoded.read))
    }
  }

  #refuse(reason: string): void {
    this.#keeper.noteUnread()
    this.#late = toBlockedAnswer(400, `Cannot read the request: ${reason}`, {
      isKept: false,
      isHead: false,
    })
    this.#close()
  }

  #speak(): void {
    if (this.#late) this.write(this.#late)
    this.#late = undefined
  }

  #rest(): void {
    this.#speak()
    this.#enter("idle")
  }

  #close(): void {
    this.#speak()
    this.#enter("closing")
    this.#head.clear()
    this.#held = undefined
    this.#discardedBytes = 0
    this.resume()
    // Only our half: whoever is still saying something, such as goodbye to a WebSocket, would fail
    // to say it and forget what it has heard.
    this.#outlet.finish(() => this.#socket.shutdown())
  }

  #enter(state: "idle" | "head" | "busy" | "discarding" | "closing"): void {
    this.#state = state
    this.#sinceMs = performance.now()
  }
}
