import { MessageChannel, type MessagePort } from "node:worker_threads"
import { WorkerPool, WorkerPoolError } from "@hamlet/kit"
import { AppError } from "../../domain/app-error.ts"
import type { Log } from "../ops/log.ts"
import { type ApiAnswer, type ApiQuestion, abortMessage } from "./api-port.ts"
import type { McpRequest } from "./mcp-server.ts"

const limits = {
  /** Messages at the same time. Most of the time they wait for the API, which has limits of its own. */
  jobsMax: 1_000,
  /** Messages that wait; one user may use a quarter. */
  waitingMax: 256,
  /** Runs can take long, and their own limit ends them. */
  jobMsMax: 86_400_000,
  /** Loading the library takes half a second of CPU time. */
  idleMsMax: 600_000,
  /**
   * Bytes of one response of the API. A page of large vals is larger: the assistant asks for fewer.
   */
  apiBytesMax: 16_777_216,
}

/** A message of an assistant, with the facts that its tools need. */
export interface McpMessage
  extends Pick<McpRequest, "caller" | "requestId" | "isReadOnly" | "version" | "baseUrl"> {
  /** The headers of the request. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** The input of the thread. */
export interface McpJob extends McpMessage {
  /** Where the thread asks the API. */
  readonly port: MessagePort
}

/** A line for the log of the server. */
export type LogEntry = readonly [level: "debug" | "info" | "error", event: string, fields: object]

/** What the thread returns. */
export interface McpResult {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  readonly log: readonly LogEntry[]
}

/**
 * Handles messages of assistants on a thread: it parses what assistants send and what the API
 * returns, which is megabytes of small values if a user wants it to be, and edits code. This thread
 * forwards the bytes of requests to the API.
 */
export class McpPool {
  readonly #pool: WorkerPool<McpJob, McpResult>
  readonly #log: Log

  constructor(docsFolder: string, log: Log) {
    this.#log = log
    this.#pool = new WorkerPool({
      script: new URL("./mcp-thread.ts", import.meta.url),
      workerData: { docsFolder },
      workersMax: 1,
      jobsPerWorkerMax: limits.jobsMax,
      waitingMax: limits.waitingMax,
      jobMsMax: limits.jobMsMax,
      idleMsMax: limits.idleMsMax,
    })
  }

  /** Tools call `fetchApi`, with the path of a route. The signal is that of the assistant's request. */
  async respond(
    message: McpMessage,
    fetchApi: (path: string, init: RequestInit) => Promise<Response>,
    signal: AbortSignal,
  ): Promise<McpResult> {
    const { port1: port, port2 } = new MessageChannel()
    port.on("message", async (question: ApiQuestion) => {
      const answer = await ask(question, fetchApi, signal)
      port.postMessage(answer, "body" in answer ? [answer.body.buffer as ArrayBuffer] : [])
    })
    const abort = () => port.postMessage(abortMessage)
    signal.addEventListener("abort", abort, { once: true })
    try {
      const result = await this.#pool.run(message.caller.actorId, { ...message, port: port2 }, [
        port2,
      ])
      for (const [level, event, fields] of result.log) this.#log[level](event, fields)
      return result
    } catch (error) {
      if (!(error instanceof WorkerPoolError) || error.reason === "failed") throw error
      throw new AppError("overloaded", "Cannot respond: too many messages of assistants wait", {
        cause: error,
      })
    } finally {
      signal.removeEventListener("abort", abort)
      port.close()
    }
  }

  stop(): Promise<void> {
    return this.#pool.stop()
  }
}

async function ask(
  { id, path, body, ...init }: ApiQuestion,
  fetchApi: (path: string, init: RequestInit) => Promise<Response>,
  signal: AbortSignal,
): Promise<ApiAnswer> {
  try {
    const response = await fetchApi(path, {
      ...init,
      signal,
      ...(body === undefined ? {} : { body: body as BodyInit }),
    })
    const bytes = await readUpTo(response, limits.apiBytesMax)
    if (bytes === undefined) return { id, isTooLarge: true }
    return { id, status: response.status, headers: [...response.headers], body: bytes }
  } catch (error) {
    return { id, error: error instanceof Error ? error.message : String(error) }
  }
}

/** Undefined if there is more. A copy, because what is sent to a thread is gone here. */
async function readUpTo(response: Response, bytesMax: number): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = []
  let total = 0
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    total += chunk.length
    if (total > bytesMax) return undefined
    chunks.push(chunk)
  }
  const bytes = new Uint8Array(total)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}
