import { TokenBucket } from "../counts/token-bucket.ts"
import { FairQueue } from "../turns/fair-queue.ts"

/** Limits of a stream that a client sends. */
const limits = {
  /** A piece below this size is small. */
  smallBytesMax: 1_024,
  /** Small pieces that a stream yields per second. Beyond that, what arrives is joined first. */
  smallPerSecondMax: 500,
}

/** Streams that wait until they may be read. */
const waiting = new FairQueue()

/**
 * Waits until another part of a stream may be read: one in each turn of the event loop, senders in
 * turn. What arrives meanwhile is joined outside of JavaScript, and a client whose bytes are not
 * read sends no more. Asking at once would cost a promise for every chunk, however small.
 */
export function nextReadTurn(sender: string): Promise<void> {
  const waiter = waiting.add(sender, undefined)
  // The queue has no limit: what waits is a request, and those have limits of their own.
  if (!waiter) return Promise.resolve()
  if (waiting.size === 1) setImmediate(giveTurn)
  return waiter.promise
}

function giveTurn(): void {
  waiting.next()?.resolve()
  if (waiting.size > 0) setImmediate(giveTurn)
}

/** Counts the small pieces of one stream. */
export class PieceRate {
  readonly #small = new TokenBucket(limits.smallPerSecondMax, 1_000, performance.now())

  /** Undefined, or a promise that resolves when the next piece may be read. */
  count(bytes: number): Promise<void> | undefined {
    if (bytes >= limits.smallBytesMax) return undefined
    this.#small.refill(performance.now())
    this.#small.charge(1)
    return this.#small.hasToken ? undefined : Bun.sleep(Math.ceil(this.#small.msUntilToken))
  }
}

/**
 * The pieces of a body in the order in which they come, no faster than the limits allow. The body is
 * touched late: as long as there is no stream, joining chunks costs half as much.
 */
export async function* readPieces(
  message: Pick<Request, "body">,
  sender: string,
): AsyncGenerator<Uint8Array, void> {
  const rate = new PieceRate()
  await nextReadTurn(sender)
  for await (const piece of message.body ?? []) {
    yield piece
    await rate.count(piece.length)
    await nextReadTurn(sender)
  }
}
