import { expect } from "bun:test"
import { createHash, randomUUID } from "node:crypto"
import { dirname } from "node:path"
import type { Database } from "@hamlet/database"
import { waitUntil } from "@hamlet/kit/testing"
import type { TestUser } from "../../support/api.ts"
import { limitConcurrency } from "../../support/limit-concurrency.ts"
import type { HamletProcess } from "../../support/processes/hamlet-process.ts"
import { chosenToken, openServerFixture, type ServerFixture } from "../../support/server-fixture.ts"
import type { ProbeTargets } from "../probes/val-probe.ts"
import { sendRaw } from "./raw-http.ts"
import { ResourceTracker } from "./resource-tracker.ts"
import { findFolderOf, type SandboxInUse } from "./sandboxes.ts"

/** A val that was saved. */
export interface SavedVal {
  readonly id: string
  readonly name: string
  readonly owner: TestUser
  /** The host of its web address, with the port. */
  readonly host: string
}

/** A response that has arrived completely. */
export interface ReceivedResponse {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever they expect to be there
  readonly json: any
}

// biome-ignore lint/suspicious/noExplicitAny: the shape of a run is the contract's; tests of it are elsewhere
export type RunRecord = any

export interface NewVal {
  readonly code: string
  readonly name?: string
  readonly type?: "http" | "script"
  readonly privacy?: "public" | "unlisted" | "private"
}

export interface ValRequestOptions {
  readonly path?: string
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: BodyInit
  readonly signal?: AbortSignal
}

const program = new URL("../../../src/main.ts", import.meta.url).pathname
const startsMax = 10
const pauseMs = 500
const portIsTaken = "another program listens there"
/** Said on a machine that is too busy to start a process in time. It is no fault of the server. */
const slowStart =
  /^\{[^\n]*"event":"sandboxes_unavailable"[^\n]*: it was not ready after \d+ ms"\}\n/gm
/** How many probes run at the same time. */
const probesAtOnce = 6
const secretKey = Buffer.alloc(32, "host key of the server").toString("base64")
/** Texts that only their owner may see. */
const secretOfAda = "the-secret-of-ada-4711"
const markOfHost = "only-in-the-environment-of-the-host-0815"

/**
 * The real server in a process of its own, with bubblewrap and SQLite. Its users are ada, who has
 * secrets and vals worth stealing, mallory, who attacks, and bob, a bystander. During every attack
 * ada's neighbour val must work as usual.
 */
export class AttackServer {
  readonly limitProbes = limitConcurrency(probesAtOnce)
  readonly resources: ResourceTracker
  readonly #fixture: ServerFixture
  readonly #env: Readonly<Record<string, string>>
  hamlet!: HamletProcess
  ada!: TestUser
  mallory!: TestUser
  bob!: TestUser
  neighbour!: SavedVal
  targets!: ProbeTargets
  baseUrl = ""
  port = 0
  #number = 0

  private constructor(fixture: ServerFixture, env: Readonly<Record<string, string>>) {
    this.#fixture = fixture
    this.#env = env
    this.resources = new ResourceTracker(dirname(fixture.dataDir))
  }

  /** Starts a server with these settings; `prefix` is a command that runs the server's command. */
  static async open(
    env: Readonly<Record<string, string>> = {},
    prefix: readonly string[] = [],
  ): Promise<AttackServer> {
    const server = new AttackServer(await openServerFixture(undefined, prefix), env)
    await server.start()
    await server.#settle()
    return server
  }

  /** Texts that only their owner may see. */
  get confidentialTexts(): readonly string[] {
    return [secretOfAda, markOfHost, secretKey, chosenToken]
  }

  get dataDir(): string {
    return this.#fixture.dataDir
  }

  /** Starts the server, again at the port that it had. */
  async start(): Promise<void> {
    for (let attempt = 1; ; attempt++)
      try {
        await this.#start()
        return
      } catch (error) {
        // A connection of another program may have the port for a moment.
        if (attempt === startsMax || !String(error).includes(portIsTaken)) throw error
        await Bun.sleep(pauseMs)
      }
  }

  async #start(): Promise<void> {
    const { hamlet, baseUrl } = await this.#fixture.serve({
      HAMLET_ISOLATION: "bubblewrap",
      HAMLET_LOG_LEVEL: "error",
      HAMLET_SECRET_KEY: secretKey,
      HAMLET_PROCESSES_MAX: "64",
      // The pool is small: otherwise as many processes as probes run at once would be started again
      // at the end of a suite.
      HAMLET_PROCESSES_READY: "1",
      HAMLET_PROCESSES_READY_MAX: "2",
      HAMLET_IDLE_SECONDS: "5",
      HAMLET_PORT: String(this.port),
      VILLAGE_MARK: markOfHost,
      ...this.#env,
    })
    this.hamlet = hamlet
    this.baseUrl = baseUrl
    this.port = Number(new URL(baseUrl).port)
  }

  async addUser(username: string): Promise<TestUser> {
    const { json } = await this.call("POST", "/v1/users", { as: this.ada, body: { username } })
    return { id: json.id, username, token: json.token }
  }

  /** Calls the API, again if the machine was too busy to start a process for a val. */
  call(
    method: string,
    path: string,
    options: {
      readonly as?: TestUser | string
      readonly body?: unknown
      readonly headers?: Record<string, string>
    } = {},
  ): Promise<ReceivedResponse> {
    const token = typeof options.as === "string" ? options.as : options.as?.token
    return waitUntil(async () => {
      const response = await fetch(`http://127.0.0.1:${this.port}${path}`, {
        method,
        redirect: "manual",
        headers: {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...options.headers,
        },
        ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
      })
      const received = await toReceivedResponse(response)
      return isOverload(received) ? undefined : received
    })
  }

  /** Saves a val; without a name it gets a new one. */
  async save(
    owner: TestUser,
    { code, name = `v${++this.#number}`, type = "http", privacy = "unlisted" }: NewVal,
  ): Promise<SavedVal> {
    const { status, text, json } = await this.call("PUT", "/v1/vals", {
      as: owner,
      body: { name, code, type, privacy },
    })
    if (status !== 200) throw new Error(`the val was not saved: ${status} ${text}`)
    return { id: json.id, name, owner, host: `${owner.username}-${name}.localhost:${this.port}` }
  }

  /** Calls a val at its web address. */
  async request(
    val: Pick<SavedVal, "host">,
    options: ValRequestOptions = {},
  ): Promise<ReceivedResponse> {
    return toReceivedResponse(await this.fetchVal(val, options))
  }

  /**
   * Calls a val at its web address, again if the machine was too busy to start a process for it; the
   * caller reads the body.
   */
  fetchVal(
    { host }: Pick<SavedVal, "host">,
    { path = "/", headers, ...init }: ValRequestOptions = {},
  ): Promise<Response> {
    return waitUntil(async () => {
      const response = await fetch(`http://127.0.0.1:${this.port}${path}`, {
        redirect: "manual",
        ...init,
        headers: { ...headers, host },
      })
      if (response.status !== 503 || init.body instanceof ReadableStream) return response
      const text = await response.text()
      return isOverload({ status: 503, text }) ? undefined : new Response(text, response)
    })
  }

  /**
   * Sends bytes as they are and returns everything that comes until the server closes the
   * connection; again if the machine was too busy to start a process for the val.
   */
  sendBytes(bytes: string): Promise<Buffer> {
    return waitUntil(async () => {
      const received = await sendRaw(this.port, bytes)
      const text = received.toString("latin1")
      const isRefused = text.startsWith("HTTP/1.1 503 ") && isOverload({ status: 503, text })
      return isRefused ? undefined : received
    })
  }

  /** Runs a val through the API. */
  async run(
    val: SavedVal,
    args: readonly unknown[] = [],
    as: TestUser = val.owner,
  ): Promise<RunRecord> {
    const path = `/v1/vals/${val.id}/runs`
    const { status, text, json } = await this.call("POST", path, { as, body: { args } })
    if (status !== 200) throw new Error(`the val was not run: ${status} ${text}`)
    return json
  }

  /** The run that a response came from, once it has ended. */
  async runOf({ headers, status, text }: ReceivedResponse, owner: TestUser): Promise<RunRecord> {
    const id = headers.get("x-run-id")
    if (id === null) throw new Error(`the response names no run: ${status} ${text.slice(0, 500)}`)
    return this.endedRun(id, owner)
  }

  async endedRun(id: string, owner: TestUser): Promise<RunRecord> {
    return waitUntil(async () => {
      const { status, json } = await this.call("GET", `/v1/runs/${id}`, { as: owner })
      return status === 200 && json.status !== "running" && json.status !== "queued"
        ? json
        : undefined
    })
  }

  /** The run once it has ended and so many of its log lines have arrived, which may be later. */
  async loggedRun(id: string, owner: TestUser, lines: number): Promise<RunRecord> {
    return waitUntil(async () => {
      const run = await this.endedRun(id, owner)
      return run.logs.length >= lines ? run : undefined
    })
  }

  /** The sandbox that a val is in at the moment. */
  sandboxOf({ owner, name }: SavedVal): Promise<SandboxInUse> {
    return findFolderOf(this.hamlet.pid, `${this.baseUrl}/v/${owner.username}/${name}`)
  }

  /** Fails unless the server and ada's neighbour val respond correctly. */
  async expectHealthy(): Promise<void> {
    const mark = randomUUID()
    const [health, neighbour] = await Promise.all([
      this.call("GET", "/healthz"),
      this.request(this.neighbour, { path: `/calm?mark=${mark}`, method: "POST", body: mark }),
    ])
    expect(health.status).toBe(200)
    const hash = createHash("sha256").update(secretOfAda).digest("hex")
    expect(`${neighbour.status} ${neighbour.text}`).toBe(
      `200 all is well at /calm?mark=${mark} with ${mark} and ${hash}`,
    )
  }

  /** Stops the server as an operator would, and returns what it left behind. */
  async stopGracefully(): Promise<{
    readonly left: readonly string[]
    readonly exitCode: number | null
    readonly stderr: string
  }> {
    this.resources.record(this.hamlet.pid)
    this.hamlet.signal("SIGTERM")
    const { exitCode, stderr } = await this.hamlet.ended()
    const left = await this.resources.findRemaining()
    return { left, exitCode, stderr: stderr.replaceAll(slowStart, "") }
  }

  /** Another connection to the database of the server. */
  connect(): Promise<Database> {
    return this.#fixture.connect()
  }

  async stop(): Promise<void> {
    await this.#fixture[Symbol.asyncDispose]()
  }

  async #settle(): Promise<void> {
    const me = await this.call("GET", "/v1/me", { as: chosenToken })
    this.ada = { id: me.json.id, username: "ada", token: chosenToken }
    this.mallory = await this.addUser("mallory")
    this.bob = await this.addUser("bob")
    await this.call("PUT", "/v1/me/secrets/ADAS_SECRET", {
      as: this.ada,
      body: { value: secretOfAda },
    })
    this.neighbour = await this.save(this.ada, {
      name: "neighbour",
      code: neighbourCode,
      privacy: "public",
    })
    await this.expectHealthy()
    const { folder } = await this.sandboxOf(this.neighbour)
    this.targets = {
      dataDir: this.dataDir,
      program,
      baseUrl: this.baseUrl,
      port: this.port,
      neighbourFolder: folder,
    }
  }
}

const neighbourCode = `export default async function (request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url)
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(Deno.env.get("ADAS_SECRET"))))
  const hash = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")
  return new Response("all is well at " + pathname + search + " with " + (await request.text()) + " and " + hash)
}
`

/** Processes that start for other reasons too late, or not at all, are in the server's log. */
function isOverload({ status, text }: Pick<ReceivedResponse, "status" | "text">): boolean {
  return status === 503 && /no process (became free|can be started) for it/.test(text)
}

async function toReceivedResponse(response: Response): Promise<ReceivedResponse> {
  const text = await response.text()
  const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: isJson && text !== "" ? tryParse(text) : undefined,
  }
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
