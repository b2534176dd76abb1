import type { ResponseHead } from "../../http1/response-head.ts"
import type { Refusal } from "../policy/refusal.ts"

/** What carries a request to whoever answers it, and the answer back. */
export interface Carrier {
  /** A part of the body. False when no more should come until there is room. */
  write(bytes: Uint8Array): boolean
  /** That was all of the body. */
  end(): void
  /** Nobody takes more of the answer for now. */
  pause(): void
  resume(): void
  /** Nobody wants the rest; nothing is heard of it any more. */
  abort(): void
}

/**
 * Hears what comes of a request: a head, parts of its body unless that came with it, and an end;
 * or, at any point, a failure.
 */
export interface CarrierListener {
  /** The body is null where there is none, and undefined where it is still to come. */
  onHead(head: ResponseHead, body: Uint8Array | null | undefined): void
  onPart(bytes: Uint8Array): void
  onEnd(): void
  onFailure(refusal: Refusal): void
  /** There is room for more of the request's body. */
  onCarrierRoom(): void
  /**
   * The connection was closed before anything came, while it was not in use as far as one can tell.
   */
  onStale(): void
}
