/** A request to the service. */
export interface ChatRequest {
  readonly authorization: string | null
  readonly path: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever they expect to be there
  readonly body: any
}

/** A service with OpenAI's wire format, on a port of its own. */
export interface OpenAiService {
  /** The address for HAMLET_OPENAI_URL. */
  readonly url: string
  readonly requests: ChatRequest[]
  /** Requests whose response has neither ended nor been broken off. */
  readonly open: Set<object>
  stop(): Promise<void>
}

/** The key that it accepts. */
export const openAiKey = "sk-test-0123456789"

/**
 * Starts it. The model `echo` repeats the last message, word by word in a stream. Other models are
 * errors: `busy`, `broken`, `moved`, `endless` and `silent`; any other name is unknown.
 */
export function startOpenAiService(): OpenAiService {
  const requests: ChatRequest[] = []
  const open = new Set<object>()
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const authorization = request.headers.get("authorization")
      const text = await request.text()
      const body = parse(text)
      requests.push({ authorization, path: new URL(request.url).pathname, body })
      if (authorization !== `Bearer ${openAiKey}`)
        return refuse(401, `Incorrect API key provided: ${authorization}`)
      if (typeof body !== "object" || !Array.isArray(body?.messages))
        return refuse(400, `We could not parse the JSON body of your request (${openAiKey})`)
      return body.model === "silent" ? waitForEnd(request.signal, open) : respond(body, open)
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}/v1`,
    requests,
    open,
    stop: () => server.stop(true),
  }
}

// biome-ignore lint/suspicious/noExplicitAny: whatever a test has sent
function parse(text: string): any {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function refuse(status: number, message: string, headers: Record<string, string> = {}): Response {
  return Response.json({ error: { message, type: "invalid_request_error" } }, { status, headers })
}

// biome-ignore lint/suspicious/noExplicitAny: what a test has sent
function respond(body: any, open: Set<object>): Response {
  switch (body.model) {
    case "echo":
      return body.stream === true ? streamWords(toReply(body), open) : complete(toReply(body))
    case "busy":
      return refuse(429, "Rate limit reached", { "retry-after": "20" })
    case "broken":
      return new Response("oh no", { status: 500 })
    case "moved":
      return new Response(null, { status: 307, headers: { location: "/elsewhere" } })
    case "endless":
      return streamForever(open)
    default:
      return refuse(404, `The model \`${body.model}\` does not exist`)
  }
}

/** Does not respond. */
function waitForEnd(signal: AbortSignal, open: Set<object>): Promise<Response> {
  open.add(signal)
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => {
      open.delete(signal)
      resolve(new Response())
    })
  })
}

function toReply(body: { messages: { content: unknown }[] }): string {
  const content = body.messages.at(-1)?.content
  return `You said: ${typeof content === "string" ? content : JSON.stringify(content)}`
}

const common = { id: "chatcmpl-1", created: 1_700_000_000, model: "echo" }

function complete(content: string): Response {
  const message = { role: "assistant", content, refusal: null }
  return Response.json({
    ...common,
    object: "chat.completion",
    choices: [{ index: 0, finish_reason: "stop", message }],
    usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
  })
}

function toEvent(content: string): string {
  const choices = [{ index: 0, finish_reason: null, delta: { content } }]
  return `data: ${JSON.stringify({ ...common, object: "chat.completion.chunk", choices })}\n\n`
}

const streamHeaders = { "content-type": "text/event-stream; charset=utf-8" }

function streamWords(content: string, open: Set<object>): Response {
  const words = content.match(/\S+\s*/g) ?? []
  const stream = {}
  open.add(stream)
  return new Response(
    async function* () {
      for (const word of words) {
        yield toEvent(word)
        await Bun.sleep(1)
      }
      yield "data: [DONE]\n\n"
      open.delete(stream)
    } as unknown as BodyInit,
    { headers: streamHeaders },
  )
}

function streamForever(open: Set<object>): Response {
  const stream = {}
  open.add(stream)
  return new Response(
    new ReadableStream({
      async pull(controller) {
        await Bun.sleep(5)
        controller.enqueue(new TextEncoder().encode(toEvent("and ")))
      },
      cancel: () => void open.delete(stream),
    }),
    { headers: streamHeaders },
  )
}
