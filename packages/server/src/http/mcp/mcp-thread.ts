import { workerData } from "node:worker_threads"
import { atMostLevels, ownerHeader, limits as wireLimits } from "@hamlet/contract"
import { createClient } from "@hamlet/contract/client"
import { isRecord } from "@hamlet/contract/is-record"
import { serveJobs } from "@hamlet/kit"
import { createDocPages } from "../pages/doc-pages.ts"
import { createApiPort } from "./api-port.ts"
import type { LogEntry, McpJob, McpResult } from "./mcp-pool.ts"
import { handleMessage } from "./mcp-server.ts"

// The thread of `McpPool`.
const docs = createDocPages((workerData as { readonly docsFolder: string }).docsFolder)
serveJobs<McpJob, McpResult>(async (job) => {
  const log: LogEntry[] = []
  try {
    const response = await respond(job, log)
    const body = await response.bytes()
    const headers = Object.fromEntries(response.headers)
    return {
      result: { status: response.status, headers, body, log },
      transfer: [body.buffer as ArrayBuffer],
    }
  } finally {
    job.port.close()
  }
})

/** JSON-RPC: the body is not JSON, or not one message. */
const parseError = -32_700
const invalidRequest = -32_600
const limits = {
  /**
   * How deep a message may be: as the arguments of a run, within those of a tool. Deeper values can be
   * read, but to write them fails after seconds, in which this thread does nothing for others.
   */
  levelsMax: wireLimits.argLevelsMax + 10,
}
const [isShallow, tooDeep] = atMostLevels(limits.levelsMax)
/** The limits of runs end them. */
const timeoutMs = 86_400_000

async function respond(
  { port, headers, body, ...facts }: McpJob,
  log: LogEntry[],
): Promise<Response> {
  const message = parseMessage(body)
  if (!message.isValid) return toRpcError(message.code, message.reason)
  const { baseUrl, caller } = facts
  const { fetch, signal } = createApiPort(port)
  const actFor = (owner: string | undefined) => ({
    client: createClient({
      baseUrl,
      owner,
      retriesMax: 0,
      timeoutMs,
      fetch: (url, init) => fetch(url.slice(baseUrl.length), init),
    }),
    fetch(path: string, init?: RequestInit) {
      if (owner === undefined) return fetch(path, init)
      const headers = new Headers(init?.headers)
      headers.set(ownerHeader, owner)
      return fetch(path, { ...init, headers })
    },
    username: owner ?? caller.ownerName,
  })
  return handleMessage(
    {
      ...facts,
      ...actFor(undefined),
      actFor,
      docs,
      log: {
        debug: (event, fields = {}) => void log.push(["debug", event, fields]),
        info: (event, fields = {}) => void log.push(["info", event, fields]),
        error: (event, fields = {}) => void log.push(["error", event, fields]),
      },
    },
    new Request(`${baseUrl}/mcp`, { method: "POST", headers, signal }),
    message.value,
  )
}

type Message =
  | { readonly isValid: true; readonly value: object }
  | { readonly isValid: false; readonly code: number; readonly reason: string }

function parseMessage(bytes: Uint8Array): Message {
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes))
  } catch {
    return { isValid: false, code: parseError, reason: "The body is not valid JSON" }
  }
  if (!isShallow(value))
    return { isValid: false, code: invalidRequest, reason: `The body ${tooDeep}` }
  // Revisions since June 2025 have no batches; one request could start any number of runs.
  return isRecord(value)
    ? { isValid: true, value }
    : { isValid: false, code: invalidRequest, reason: "The body must be one JSON-RPC message" }
}

function toRpcError(code: number, message: string): Response {
  return Response.json({ jsonrpc: "2.0", error: { code, message }, id: null }, { status: 400 })
}
