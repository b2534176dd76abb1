import { createTimeSlice, TokenBucket } from "@hamlet/kit"
import type { GatewayLimits } from "../limits.ts"

/** A message of a WebSocket. */
export type SocketMessage = string | ArrayBuffer | Buffer<ArrayBuffer>

/** Where the messages of a queue go. */
export interface MessageReceiver {
  send(message: SocketMessage): void
  /** Called when nothing waits any more, if anything has waited. */
  allSent(): void
}

interface QueueLimits
  extends Pick<GatewayLimits, "messagesPerSecondMax" | "messageOverheadBytes" | "forwardMsMax"> {
  /** The account on whose turns messages are forwarded. */
  readonly owner: string
}

/** Messages that were sent and are still in the list: moving those that wait forward takes time. */
const sentKeptMax = 1_024

/**
 * The messages in one direction of a WebSocket. They are forwarded at once, unless there are more of
 * them than a second or a turn of the event loop allows: a megabyte can be half a million messages,
 * and neither side can be asked to pause. What waits is limited together with unread bytes.
 */
export class MessageQueue {
  readonly #limits: QueueLimits
  readonly #receiver: MessageReceiver
  readonly #rate: TokenBucket
  readonly #pause: ReturnType<typeof createTimeSlice>
  #waiting: SocketMessage[] = []
  /** The first of those that wait. */
  #first = 0
  #isOpen: boolean
  #isSending = false
  /** The size of what waits, counted with what each message costs. */
  waitingBytes = 0

  /** Until `open` is called, everything waits. */
  constructor(limits: QueueLimits, receiver: MessageReceiver, isOpen: boolean) {
    this.#limits = limits
    this.#receiver = receiver
    this.#isOpen = isOpen
    this.#pause = createTimeSlice({ sliceMsMax: limits.forwardMsMax, owner: limits.owner })
    this.#rate = new TokenBucket(limits.messagesPerSecondMax, 1_000, performance.now())
  }

  push(message: SocketMessage): void {
    const isFirst = this.#isOpen && !this.#isSending
    const wait = isFirst ? this.#toWait() : undefined
    if (isFirst && wait === undefined) {
      this.#receiver.send(message)
      return
    }
    this.#waiting.push(message)
    this.waitingBytes += this.#measure(message)
    if (wait !== undefined) void this.#sendAfter(wait)
  }

  open(): void {
    this.#isOpen = true
    if (this.#waiting.length > 0) void this.#sendAfter(undefined)
  }

  /** Drops what waits. */
  stop(): void {
    this.#waiting = []
    this.#first = 0
    this.waitingBytes = 0
    this.#isOpen = false
  }

  async #sendAfter(wait: Promise<void> | undefined): Promise<void> {
    this.#isSending = true
    if (wait !== undefined) await wait
    while (this.#first < this.#waiting.length) {
      const message = this.#waiting[this.#first++] as SocketMessage
      if (this.#first === sentKeptMax) {
        this.#waiting.splice(0, this.#first)
        this.#first = 0
      }
      this.waitingBytes -= this.#measure(message)
      this.#receiver.send(message)
      const next = this.#first < this.#waiting.length ? this.#toWait() : undefined
      if (next !== undefined) await next
    }
    this.#waiting = []
    this.#first = 0
    this.#isSending = false
    if (this.#isOpen) this.#receiver.allSent()
  }

  /** Counts a message. Undefined if it can be sent at once. */
  #toWait(): Promise<void> | undefined {
    if (this.#rate.take(1, performance.now())) return this.#pause()
    this.#rate.charge(1)
    return Bun.sleep(Math.ceil(this.#rate.msUntilToken))
  }

  #measure(message: SocketMessage): number {
    const bytes = typeof message === "string" ? message.length : message.byteLength
    return bytes + this.#limits.messageOverheadBytes
  }
}
