import { getHeader, PromiseCtor, requestHeaders } from "../primordials.ts"

/** Responds to requests to the val's web address, as a server that the val has started. */
export type Listener = (request: Request) => unknown

let listener: Listener | undefined
let expected = false
const listening = Promise.withResolvers<void>()

/**
 * Makes `next` the val's listener, unless it has one: the first server that listens gets the
 * requests. Returns a function that closes it.
 */
export function listen(next: Listener): () => void {
  if (listener === undefined) {
    listener = next
    listening.resolve()
  }
  return () => {
    if (listener === next) listener = undefined
  }
}

/** The server of the val, if it has started one. */
export function findListener(): Listener | undefined {
  return listener
}

/** The val has prepared a server, or loaded a module for one: it may listen soon. */
export function expectListener(): void {
  expected = true
}

export function isListenerExpected(): boolean {
  return expected
}

/** Resolves when the val listens, or after the time. */
export function waitForListener(msMax: number): Promise<void> {
  return new PromiseCtor((resolve) => {
    void resolveWhenListening(resolve)
    setTimeout(resolve, msMax)
  })
}

async function resolveWhenListening(resolve: () => void): Promise<void> {
  await listening.promise
  resolve()
}

/**
 * Resolves a turn of the event loop after the val listens: a module that waits for the end of its
 * server never ends, but one that throws after it has listened has failed.
 */
export async function whenListening(): Promise<void> {
  await listening.promise
  await new PromiseCtor<void>((resolve) => setTimeout(resolve, 0))
}

/** The address of the client, as the gateway reports it. */
export function clientAddressOf(request: Request): string {
  return getHeader(requestHeaders(request), "x-forwarded-for") ?? "127.0.0.1"
}
