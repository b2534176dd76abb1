import {
  admit,
  alone,
  minuteMs,
  OpenCounts,
  RateLimited,
  SharedRates,
  type Sharing,
} from "@hamlet/kit"
import type { Caller } from "./access/caller.ts"
import { AppError } from "./app-error.ts"

/** A response of the service with the language models. */
export type ChatOutcome =
  | {
      readonly kind: "responded"
      readonly contentType: "application/json" | "text/event-stream"
      /** Ends with an error if the service does. Cancelling it ends the request to the service. */
      readonly stream: ReadableStream<Uint8Array>
    }
  /** `message` comes from the service. */
  | { readonly kind: "refused"; readonly message: string }
  | { readonly kind: "busy"; readonly retryAfterSeconds: number }
  | { readonly kind: "failed"; readonly message: string }

/** A service with OpenAI's wire format, called with the operator's key. */
export interface ChatService {
  /** `onEnd` is called when the response has ended in any way. `signal` ends the request. */
  complete(body: Uint8Array, onEnd: () => void, signal: AbortSignal): Promise<ChatOutcome>
}

/** What each account may send; undefined for no limit. */
export interface ChatLimits {
  readonly requestsPerMinute: number | undefined
  readonly requestsPerDay: number | undefined
  readonly bodyBytesMax: number
}

/** The limits of the accounts, and what they have used. */
export type ChatAllowance = ReturnType<typeof createChatAllowance>

const limits = {
  /** Requests of one account on this node that wait for the service or read its response. */
  openPerAccountMax: 16,
}

const dayMs = 86_400_000

/** Creates the allowance with its counters. */
export function createChatAllowance(
  { requestsPerMinute, requestsPerDay, bodyBytesMax }: ChatLimits,
  now: () => number,
  sharing: Sharing = alone,
) {
  const opened = new OpenCounts()
  const minutes = new SharedRates("chat per minute", minuteMs, now, sharing)
  const days = new SharedRates("chat per day", dayMs, now, sharing)
  return {
    bodyBytesMax,
    /**
     * Rejects with `rate_limited` when the account has used up its requests. Resolves with how to end
     * this one.
     */
    async take(userId: string): Promise<() => void> {
      const end = opened.tryOpen(userId, limits.openPerAccountMax)
      if (!end) throw new RateLimited(1, refusals.open)
      try {
        if (requestsPerMinute !== undefined)
          await admit(minutes.take(userId, requestsPerMinute), refusals.minute)
        if (requestsPerDay !== undefined)
          await admit(days.take(userId, requestsPerDay), refusals.day)
        return end
      } catch (error) {
        end()
        throw error
      }
    },
  }
}

const refusals = {
  open: "Cannot ask the language model: the account has the maximum number of open requests to it;",
  minute: "Cannot ask the language model: the account has used up its requests for this minute;",
  day: "Cannot ask the language model: the account has used up its requests for this day;",
}

/** The rules of language models. */
export type Chat = ReturnType<typeof createChat>

/** Creates the rules of chat requests; `service` is null if the operator offers none. */
export function createChat(service: ChatService | null, allowance: ChatAllowance) {
  return {
    /**
     * Sends a chat request of the caller to the service, and returns its response. `signal` is that
     * of the caller's request: when the caller goes away, the operator pays for no more.
     */
    async complete(
      caller: Caller,
      readBody: (bytesMax: number) => Promise<Uint8Array>,
      signal: AbortSignal,
    ): Promise<Extract<ChatOutcome, { kind: "responded" }>> {
      if (service === null)
        throw new AppError(
          "openai_unavailable",
          "Cannot ask the language model: OpenAI is not configured on this server: the operator sets HAMLET_OPENAI_KEY, and HAMLET_OPENAI_URL for another service",
        )
      const end = await allowance.take(caller.ownerId)
      try {
        const outcome = await service.complete(await readBody(allowance.bodyBytesMax), end, signal)
        if (outcome.kind === "responded") return outcome
        throw toError(outcome)
      } catch (error) {
        end()
        throw error
      }
    },
  }
}

function toError(outcome: Exclude<ChatOutcome, { kind: "responded" }>): AppError {
  switch (outcome.kind) {
    case "refused":
      return new AppError("openai_refused", `Cannot ask the language model: ${outcome.message}`)
    case "busy":
      return new RateLimited(
        outcome.retryAfterSeconds,
        "Cannot ask the language model: the service has no capacity for this server now;",
      )
    case "failed":
      return new AppError("openai_failed", `Cannot ask the language model: ${outcome.message}`)
  }
}
