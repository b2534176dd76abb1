import { parseJson, readStart, replaceEach } from "@hamlet/kit"
import type { ChatOutcome, ChatService } from "../../domain/openai.ts"

export interface ChatServiceOptions {
  /** The address of the service, such as `https://api.openai.com/v1`. */
  readonly url: string
  /** Undefined for a service without keys. */
  readonly key: string | undefined
}

const limits = {
  /** A response with all of its body. */
  responseMsMax: 600_000,
  responseBytesMax: 64 * 1024 ** 2,
  /** The part of an error that is read. */
  errorBytesMax: 65_536,
  messageCharsMax: 2_000,
  retryAfterSecondsMax: 3_600,
}

/** Sends requests to a service with OpenAI's wire format. */
export function createChatService({ url, key }: ChatServiceOptions): ChatService {
  const target = `${url.replace(/\/+$/, "")}/chat/completions`
  const headers = {
    "content-type": "application/json",
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
  }
  return {
    async complete(body, onEnd, signal) {
      const abort = new AbortController()
      const end = () => {
        clearTimeout(timer)
        signal.removeEventListener("abort", end)
        abort.abort()
        onEnd()
      }
      // The timer also ends a request whose client reads nothing.
      const timer = setTimeout(end, limits.responseMsMax)
      signal.addEventListener("abort", end)
      if (signal.aborted) end()
      try {
        const response = await fetch(target, {
          method: "POST",
          headers,
          body: body as Uint8Array<ArrayBuffer>,
          signal: abort.signal,
          // The key belongs to this address only.
          redirect: "manual",
        })
        if (response.ok && response.body)
          return {
            kind: "responded",
            contentType: toContentType(response),
            stream: toStream(response.body, end),
          }
        const outcome = await toFailure(response, key)
        end()
        return outcome
      } catch (error) {
        end()
        return { kind: "failed", message: describe(error) }
      }
    },
  }
}

/** The service is trusted to send either; anything else would be a page on the API's origin. */
function toContentType({ headers }: Response): "application/json" | "text/event-stream" {
  const isStream = headers.get("content-type")?.startsWith("text/event-stream") ?? false
  return isStream ? "text/event-stream" : "application/json"
}

/** Passes the body on as it is read, up to the limit. */
function toStream(body: ReadableStream<Uint8Array>, end: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  let bytes = 0
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          bytes += value?.length ?? 0
          if (bytes > limits.responseBytesMax) throw new Error("The response is too large")
          if (value) controller.enqueue(value)
          if (!done) return
          controller.close()
        } catch {
          // Closes the connection mid-response, so that the client does not take it for complete.
          // Bun prints any other error than undefined.
          controller.error(undefined)
        }
        end()
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  )
}

async function toFailure(response: Response, key: string | undefined): Promise<ChatOutcome> {
  const { status } = response
  if (status === 429) return { kind: "busy", retryAfterSeconds: toRetryAfter(response) }
  // Its message may quote the key.
  if (status === 401 || status === 403)
    return { kind: "failed", message: "the service refused the key of this server" }
  if (status < 400 || status >= 500)
    return { kind: "failed", message: `the service responded with status ${status}` }
  const text = (await readStart(response.body, limits.errorBytesMax)).toString()
  const message = findMessage(text) ?? `the service responded with status ${status}`
  return {
    kind: "refused",
    message: (key === undefined
      ? message
      : replaceEach(message, key, "…", limits.errorBytesMax)
    ).slice(0, limits.messageCharsMax),
  }
}

function toRetryAfter({ headers }: Response): number {
  const seconds = Number(headers.get("retry-after"))
  return Number.isInteger(seconds) && seconds > 0
    ? Math.min(seconds, limits.retryAfterSecondsMax)
    : 1
}

/** The message of an error in OpenAI's format, or in the format of services that imitate it. */
function findMessage(text: string): string | undefined {
  try {
    const { error, message } = parseJson(text, limits.errorBytesMax)
    const found = typeof error === "object" && error !== null ? error.message : (error ?? message)
    return typeof found === "string" && found !== "" ? found : undefined
  } catch {
    return undefined
  }
}

/** Without the address, which only the operator may know. */
function describe(error: unknown): string {
  return error instanceof Error && error.name === "AbortError"
    ? "the service took too long"
    : "the service cannot be reached"
}
