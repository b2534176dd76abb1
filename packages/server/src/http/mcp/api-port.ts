import type { MessagePort } from "node:worker_threads"
import { ToolError } from "./tool.ts"

/** A request to the API, from the thread. */
export interface ApiQuestion {
  readonly id: number
  readonly path: string
  readonly method: string
  readonly headers: [name: string, value: string][]
  readonly body: Uint8Array | undefined
}

/** The response. */
export type ApiAnswer = { readonly id: number } & (
  | {
      readonly status: number
      readonly headers: [name: string, value: string][]
      readonly body: Uint8Array
    }
  | { readonly isTooLarge: true }
  | { readonly error: string }
)

/** Sent to the thread when the assistant has disconnected. */
export const abortMessage = "abort"

/** The API as the thread sees it. */
export interface ApiPort {
  /** Aborted when the assistant disconnects. */
  readonly signal: AbortSignal
  fetch(path: string, init?: RequestInit): Promise<Response>
}

/** Sends requests to the API through a port. */
export function createApiPort(port: MessagePort): ApiPort {
  const abort = new AbortController()
  const waiting = new Map<number, PromiseWithResolvers<Response>>()
  let id = 0
  port.on("message", (answer: ApiAnswer | typeof abortMessage) => {
    if (answer === abortMessage) return abort.abort()
    const asked = waiting.get(answer.id)
    waiting.delete(answer.id)
    if ("status" in answer) asked?.resolve(toResponse(answer))
    else if ("error" in answer) asked?.reject(new Error(answer.error))
    else
      asked?.reject(
        new ToolError("Cannot read the response: it is too large. Ask for fewer items with limit"),
      )
  })
  return {
    signal: abort.signal,
    async fetch(path, init) {
      // A tool that has sent several requests sends no further one.
      abort.signal.throwIfAborted()
      // Any kind of body becomes bytes. The host is not used.
      const request = new Request(`http://api${path}`, init)
      const { method, headers } = request
      const body = request.body === null ? undefined : await request.bytes()
      const question: ApiQuestion = { id: ++id, path, method, headers: [...headers], body }
      const asked = Promise.withResolvers<Response>()
      waiting.set(question.id, asked)
      port.postMessage(question)
      return asked.promise
    },
  }
}

function toResponse({ status, headers, body }: Extract<ApiAnswer, { status: number }>): Response {
  // A response with one of these must not have a body, not even an empty one.
  const hasBody = status !== 204 && status !== 304
  return new Response(hasBody ? (body as BodyInit) : null, { status, headers })
}
