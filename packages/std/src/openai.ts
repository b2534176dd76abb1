/**
 * The language models that the operator of this server offers, without a key of your own.
 *
 * ```ts
 * import { OpenAI } from "https://esm.town/v/std/openai"
 *
 * const openai = new OpenAI()
 * const completion = await openai.chat.completions.create({
 *   model: "gpt-5-nano",
 *   messages: [{ role: "user", content: "Say hello in a creative way" }],
 * })
 * console.log(completion.choices[0].message.content)
 * ```
 *
 * Names are those of Val Town's module and of OpenAI's client, of which it has what the server
 * offers: chat completions, also as streams. It is not built on OpenAI's package, which is 151 KB
 * where this module is 3.5: standard modules are part of each val that imports them, and work on
 * servers that reach no registry. With a key of your own, import `npm:openai`.
 *
 * @module
 */

/** Options of the client. The server determines the address and the key. */
export interface ClientOptions {
  /** Attempts after the first one, when the server has no capacity. */
  maxRetries?: number
  /** Milliseconds until the response begins. */
  timeout?: number
  // biome-ignore lint/suspicious/noExplicitAny: options of OpenAI's client that have no meaning here
  [option: string]: any
}

/** Options of one request. */
export interface RequestOptions {
  signal?: AbortSignal | null
  maxRetries?: number
  timeout?: number
}

/** A part of a message. */
export type ChatCompletionContentPart =
  | ChatCompletionContentPartText
  | { type: "image_url"; image_url: { url: string; detail?: "auto" | "low" | "high" } }
  | { type: "input_audio"; input_audio: { data: string; format: "wav" | "mp3" } }
  | { type: "file"; file: { file_data?: string; file_id?: string; filename?: string } }

/** A part of a message that is text. */
export type ChatCompletionContentPartText = { type: "text"; text: string }

/** A call of a function that the model asks for. */
export interface ChatCompletionMessageToolCall {
  id: string
  type: "function"
  function: { name: string; arguments: string }
}

/** A message of the conversation. */
export type ChatCompletionMessageParam =
  | {
      role: "system" | "developer"
      content: string | ChatCompletionContentPartText[]
      name?: string
    }
  | { role: "user"; content: string | ChatCompletionContentPart[]; name?: string }
  | {
      role: "assistant"
      content?: string | ChatCompletionContentPartText[] | null
      name?: string
      refusal?: string | null
      tool_calls?: ChatCompletionMessageToolCall[]
    }
  | { role: "tool"; content: string | ChatCompletionContentPartText[]; tool_call_id: string }

/** A function that the model may call. */
export interface ChatCompletionTool {
  type: "function"
  function: {
    name: string
    description?: string
    parameters?: Record<string, unknown>
    strict?: boolean | null
  }
}

/** The body of a request. The service may know further fields. */
export interface ChatCompletionCreateParamsBase {
  model: string
  messages: ChatCompletionMessageParam[]
  max_tokens?: number | null
  max_completion_tokens?: number | null
  temperature?: number | null
  top_p?: number | null
  n?: number | null
  stop?: string | string[] | null
  seed?: number | null
  tools?: ChatCompletionTool[]
  // biome-ignore lint/suspicious/noExplicitAny: one of several shapes, which only the service checks
  response_format?: any
  stream?: boolean | null
  // biome-ignore lint/suspicious/noExplicitAny: fields that only the service knows
  [field: string]: any
}
export interface ChatCompletionCreateParamsNonStreaming extends ChatCompletionCreateParamsBase {
  stream?: false | null
}
export interface ChatCompletionCreateParamsStreaming extends ChatCompletionCreateParamsBase {
  stream: true
}

type FinishReason = "stop" | "length" | "tool_calls" | "content_filter" | "function_call"

/** How many tokens a request used. */
export interface CompletionUsage {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
}

/** The message that the model wrote. */
export interface ChatCompletionMessage {
  role: "assistant"
  content: string | null
  refusal: string | null
  tool_calls?: ChatCompletionMessageToolCall[]
}

/** A response as a whole. */
export interface ChatCompletion {
  id: string
  object: "chat.completion"
  /** In seconds since 1970. */
  created: number
  model: string
  choices: { index: number; finish_reason: FinishReason; message: ChatCompletionMessage }[]
  usage?: CompletionUsage
}

/** A part of a response that is streamed. */
export interface ChatCompletionChunk {
  id: string
  object: "chat.completion.chunk"
  created: number
  model: string
  choices: {
    index: number
    finish_reason: FinishReason | null
    delta: {
      role?: "assistant"
      content?: string | null
      refusal?: string | null
      tool_calls?: (Partial<ChatCompletionMessageToolCall> & { index: number })[]
    }
  }[]
  usage?: CompletionUsage | null
}

/** Every error of this module. */
export class OpenAIError extends Error {
  override name = "OpenAIError"
}

/** The server or the service refused a request. */
export class APIError extends OpenAIError {
  override name = "APIError"
  constructor(
    readonly status: number | undefined,
    message: string,
    /** The error code of the server, if it sent one. */
    readonly code?: string,
  ) {
    super(message)
  }
}
export class APIConnectionError extends APIError {
  override name = "APIConnectionError"
}
export class APIUserAbortError extends APIError {
  override name = "APIUserAbortError"
}
export class BadRequestError extends APIError {
  override name = "BadRequestError"
}
export class RateLimitError extends APIError {
  override name = "RateLimitError"
}
export class InternalServerError extends APIError {
  override name = "InternalServerError"
}

/** The parts of a response as they arrive. They can be read once. */
export class Stream<Item> implements AsyncIterable<Item> {
  readonly #items: AsyncIterable<Item>
  /** Aborting it ends the response. */
  readonly controller: AbortController

  constructor(items: AsyncIterable<Item>, controller: AbortController) {
    this.#items = items
    this.controller = controller
  }

  async *[Symbol.asyncIterator](): AsyncIterator<Item> {
    try {
      yield* this.#items
    } finally {
      this.controller.abort()
    }
  }

  /** The parts as lines of JSON, for a response to a browser. */
  toReadableStream(): ReadableStream<Uint8Array> {
    const items = this[Symbol.asyncIterator]()
    const encoder = new TextEncoder()
    return new ReadableStream({
      async pull(controller) {
        const { done, value } = await items.next()
        if (done) controller.close()
        else controller.enqueue(encoder.encode(`${JSON.stringify(value)}\n`))
      },
      async cancel() {
        await items.return?.()
      },
    })
  }
}

const limits = {
  maxRetries: 2,
  timeoutMs: 600_000,
  /** Attempts that would have to wait longer are not made. */
  retryAfterSecondsMax: 10,
}

/** Chat completions of the server. */
export class Completions {
  readonly #options: ClientOptions

  constructor(options: ClientOptions) {
    this.#options = options
  }

  /** Creates a response: as a whole, or as a stream with `stream: true`. */
  create(
    body: ChatCompletionCreateParamsNonStreaming,
    options?: RequestOptions,
  ): Promise<ChatCompletion>
  create(
    body: ChatCompletionCreateParamsStreaming,
    options?: RequestOptions,
  ): Promise<Stream<ChatCompletionChunk>>
  create(
    body: ChatCompletionCreateParamsBase,
    options?: RequestOptions,
  ): Promise<ChatCompletion | Stream<ChatCompletionChunk>>
  async create(
    body: ChatCompletionCreateParamsBase,
    options: RequestOptions = {},
  ): Promise<ChatCompletion | Stream<ChatCompletionChunk>> {
    const abort = new AbortController()
    options.signal?.addEventListener("abort", () => abort.abort(), { once: true })
    if (options.signal?.aborted) abort.abort()
    const response = await request(body, { ...this.#options, ...options }, abort)
    if (body.stream !== true) return await response.json()
    return new Stream(readEvents(response), abort)
  }

  /** Creates a response whose message is JSON, and adds it as `parsed`. */
  async parse<Parsed = unknown>(
    body: ChatCompletionCreateParamsNonStreaming,
    options?: RequestOptions,
  ): Promise<
    ChatCompletion & { choices: { message: ChatCompletionMessage & { parsed: Parsed | null } }[] }
  > {
    const completion = await this.create(body, options)
    // What `zodResponseFormat` of OpenAI's package returns has this method.
    const parse: (text: string) => Parsed = body.response_format?.$parseRaw ?? JSON.parse
    const choices = completion.choices.map((choice) => {
      const { content } = choice.message
      return { ...choice, message: { ...choice.message, parsed: content ? parse(content) : null } }
    })
    return { ...completion, choices }
  }
}

/** The client: `new OpenAI()`. It has another name in some vals. */
export { OpenAI as ValTownOpenAI }
export class OpenAI {
  static readonly OpenAIError = OpenAIError
  static readonly APIError = APIError
  static readonly APIConnectionError = APIConnectionError
  static readonly APIUserAbortError = APIUserAbortError
  static readonly BadRequestError = BadRequestError
  static readonly RateLimitError = RateLimitError
  static readonly InternalServerError = InternalServerError

  readonly chat: { readonly completions: Completions }
  readonly beta: { readonly chat: { readonly completions: Completions } }

  constructor(options: ClientOptions = {}) {
    this.chat = { completions: new Completions(options) }
    this.beta = { chat: this.chat }
  }
}

// biome-ignore lint/style/noDefaultExport: vals choose the name under which they import it
export default OpenAI

interface Runtime {
  Deno?: { env: { get(name: string): string | undefined } }
}

// Keeps the original: a val may replace the global later, for example in a test.
const send = globalThis.fetch

async function request(
  body: object,
  { maxRetries = limits.maxRetries, timeout = limits.timeoutMs }: ClientOptions,
  abort: AbortController,
): Promise<Response> {
  const env = (globalThis as Runtime).Deno?.env
  const [server, token] = [env?.get("HAMLET_URL"), env?.get("HAMLET_TOKEN")]
  if (server === undefined)
    throw new OpenAIError(
      "Cannot ask the language model: outside of a val, HAMLET_URL and HAMLET_TOKEN have to be in the environment",
    )
  if (token === undefined)
    throw new OpenAIError(
      "Cannot ask the language model: this val runs on another user's account, which has no access to it",
    )
  const init = {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
    signal: abort.signal,
  }
  for (let left = maxRetries; ; left -= 1) {
    const response = await sendOnce(`${server}/v1/openai/chat/completions`, init, timeout, abort)
    if (response.ok) return response
    const waitSeconds = Number(response.headers.get("retry-after") ?? "0")
    const mayRetry = response.status === 429 || response.status === 503
    if (!mayRetry || left <= 0 || waitSeconds > limits.retryAfterSecondsMax)
      throw await toError(response)
    await response.body?.cancel()
    await new Promise((resolve) => setTimeout(resolve, Math.max(waitSeconds, 0.5) * 1000))
  }
}

async function sendOnce(
  url: string,
  init: RequestInit,
  timeoutMs: number,
  abort: AbortController,
): Promise<Response> {
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    abort.abort()
  }, timeoutMs)
  try {
    return await send(url, init)
  } catch (error) {
    if (isLate) throw new APIConnectionError(undefined, "Request timed out.")
    if (abort.signal.aborted) throw new APIUserAbortError(undefined, "Request was aborted.")
    throw new APIConnectionError(undefined, error instanceof Error ? error.message : String(error))
  } finally {
    clearTimeout(timer)
  }
}

async function toError(response: Response): Promise<APIError> {
  const { status } = response
  const { message, code } = await response.json().catch(() => ({}))
  const text = message ?? `Cannot ask the language model: the server answered ${status}`
  const Failure = errorClasses[status] ?? (status >= 500 ? InternalServerError : APIError)
  return new Failure(status, text, code)
}

const errorClasses: Readonly<Record<number, typeof APIError>> = {
  400: BadRequestError,
  429: RateLimitError,
}

/** The data of server-sent events, up to the one that ends the stream. */
async function* readEvents(response: Response): AsyncGenerator<ChatCompletionChunk> {
  let rest = ""
  const decoder = new TextDecoder()
  for await (const bytes of response.body ?? []) {
    rest += decoder.decode(bytes, { stream: true })
    const lines = rest.split(/\r?\n/)
    rest = lines.pop() ?? ""
    for (const line of lines) {
      if (!line.startsWith("data:")) continue
      const data = line.slice("data:".length).trim()
      if (data === "[DONE]") return
      const chunk = JSON.parse(data)
      if (chunk.error) throw new APIError(undefined, chunk.error.message ?? String(chunk.error))
      yield chunk
    }
  }
}
