import { expect } from "bun:test"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { waitUntil } from "@hamlet/kit/testing"
import { compose, type Hamlet, type Replacements } from "../../src/compose.ts"
import { loadConfig } from "../../src/config/config.ts"
import { assertMatchesOpenApi, parseJson } from "./assert-openapi.ts"
import { databases, type OpenDatabase, type TestDatabase } from "./databases.ts"
import { FakeResolver } from "./fakes/fake-resolver.ts"

/** A user with a token. */
export interface TestUser {
  readonly id: string
  readonly username: string
  readonly token: string
}

/**
 * The whole server on a fresh database, called without a port. Every response is checked against the
 * OpenAPI document.
 */
export interface TestApi {
  readonly hamlet: Hamlet
  /** The first user: may do everything. */
  readonly admin: TestUser
  addUser(username: string): Promise<TestUser>
  /**
   * Sends a request; `as` a user sends their token, and a `body` that is no string or bytes is sent
   * as JSON. A request that was refused because the machine is busy is sent again.
   */
  call(method: string, path: string, options?: CallOptions): Promise<TestResponse>
  close(): Promise<void>
}

export interface CallOptions {
  readonly as?: TestUser | string | undefined
  readonly body?: unknown
  readonly headers?: Record<string, string>
}

export interface TestResponse {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever they expect to be there
  readonly json: any
}

export const testBaseUrl = "http://hamlet.test"

/**
 * Opens the server on a database; `env` are settings of the operator. With
 * `HAMLET_DATA_DIR_SHARED`, the files that are not in the database have a folder of their own on
 * PostgreSQL too.
 */
export async function openApi(
  open: OpenDatabase = databases[0]?.open as OpenDatabase,
  env: Record<string, string> = {},
  replacements: Replacements = {},
): Promise<TestApi> {
  const database = await open()
  const folder =
    database.path === undefined && env.HAMLET_DATA_DIR_SHARED === "yes"
      ? await mkdtemp(join(tmpdir(), "hamlet-shared-"))
      : undefined
  // No registry on the network is used unless a test says so.
  const hamlet = await compose(
    toConfig(database, folder === undefined ? env : { HAMLET_DATA_DIR: folder, ...env }),
    {
      resolver: new FakeResolver(),
      // Suites that walk every route would start a sandbox for each request.
      formatter: { format: async (code) => ({ kind: "formatted", code }) },
      ...replacements,
    },
  )
  hamlet.nouns.queue.start()
  hamlet.parts.webhooks.worker.start()
  const { user, token } = await hamlet.nouns.users.ensureFirst({
    username: "admin",
    token: undefined,
  })
  const call = createCall(hamlet)
  return {
    hamlet,
    admin: { id: user.id, username: user.username, token: token ?? "" },
    async addUser(username) {
      const created = await hamlet.nouns.users.create({ username, email: null })
      return { id: created.user.id, username, token: created.token }
    },
    call,
    async close() {
      await hamlet.stop()
      await database.close()
      if (folder !== undefined) await rm(folder, { recursive: true })
    },
  }
}

function toConfig(database: TestDatabase, env: Record<string, string>) {
  const place: Record<string, string> =
    database.path === undefined
      ? { HAMLET_DATABASE_URL: database.url ?? "" }
      : { HAMLET_DATA_DIR: dirname(database.path) }
  const key = Buffer.alloc(32, 7).toString("base64")
  const standard = {
    HAMLET_BASE_URL: testBaseUrl,
    HAMLET_VALS_DOMAIN: "hamlet.test",
    HAMLET_PUBLIC: "no",
    HAMLET_LOG_LEVEL: "none",
    HAMLET_SECRET_KEY: key,
    HAMLET_DATABASE_CONNECTIONS_MAX: "5",
    // Processes are started when a test runs a val, and for no other.
    HAMLET_PROCESSES_READY: "0",
    HAMLET_PROCESSES_READY_MAX: "0",
    // A run that was refused is recorded as failed, so a test could not just send it again.
    HAMLET_PROCESS_WAIT_SECONDS_MAX: "60",
    HAMLET_SQLITE_SECONDS_MAX: "60",
  }
  return loadConfig({ HAMLET_DATA_DIR: "/tmp", ...standard, ...place, ...env }, [])
}

function createCall(hamlet: Hamlet): TestApi["call"] {
  const send: TestApi["call"] = async (method, path, { as, body, headers = {} } = {}) => {
    const token = typeof as === "string" ? as : as?.token
    const content =
      body === undefined || typeof body === "string" || body instanceof Uint8Array
        ? body
        : JSON.stringify(body)
    const init: RequestInit = {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        // A client that knows the whole body sends its length.
        ...(content === undefined ? {} : { "content-length": String(Buffer.byteLength(content)) }),
        ...headers,
      },
      ...(content === undefined ? {} : { body: content as BodyInit }),
    }
    const response = await hamlet.app.request(`${testBaseUrl}${path}`, init)
    const { status, headers: answered } = response
    const text = await response.text()
    const answer = { status, headers: answered, text, json: parseJson({ headers: answered, text }) }
    assertMatchesOpenApi(method, path, answer)
    return answer
  }
  return (...request) =>
    waitUntil(async () => {
      const answer = await send(...request)
      return isRefusedForLoad(answer) ? undefined : answer
    })
}

/**
 * Whether the machine was too slow: requests wait only so long for a connection, and nothing was done
 * then; a search takes only so long.
 */
function isRefusedForLoad({ json }: TestResponse): boolean {
  const isUnconnected = json?.message === "Cannot use the database: all connections are in use"
  return isUnconnected || json?.code === "search_timed_out"
}

/** Returns the response, and fails with its text unless it has that status. */
export function expectStatus(answer: TestResponse, status: number): TestResponse {
  if (answer.status !== status) expect(`${answer.status} ${answer.text}`).toBe(`${status}`)
  return answer
}
