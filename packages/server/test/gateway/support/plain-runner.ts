import { mkdtempSync } from "node:fs"
import { rm } from "node:fs/promises"
import { createServer, type Server, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { noMask } from "@hamlet/kit"
import {
  type CallOutcome,
  GuestClient,
  type HttpOutcome,
  type Program,
  type RunListener,
  type Runner,
  type RunSlot,
  type SlotRequest,
  type SocketOutcome,
  type Stopped,
} from "@hamlet/sandbox"
import { readResponseText } from "@hamlet/sandbox/testing"
import { idleStatus } from "../../support/fakes/idle-status.ts"

/** What a val does with a request; the path is the one that the client asked for. */
export type PlainVal = (request: Request, path: string) => Response | Promise<Response>

/** What a hostile val writes to the connection, given the head of a request. */
export type RawVal = (socket: Socket, head: string) => void

/** A request as it came to a val. */
export interface ReceivedRequest {
  readonly path: string
  readonly headers: Headers
}

/**
 * Runs vals without a sandbox: functions of the test behind real HTTP servers on Unix sockets. For
 * behaviour of the gateway that does not depend on the val, and for vals that break the rules in
 * ways that a sandbox makes hard.
 */
export class PlainRunner implements Runner {
  readonly #folder = mkdtempSync(join(tmpdir(), "hamlet-plain-"))
  readonly #servers: { stop(): unknown }[] = []
  readonly #paths = new Map<string, string>()
  readonly #clients = new Map<string, GuestClient>()
  readonly seen: ReceivedRequest[] = []
  /** Run slots that are not released. */
  readonly taken = new Set<RunSlot>()
  /** The ids of the http files that were started, oldest first. Schedules start others meanwhile. */
  readonly started: string[] = []
  /** Thrown in place of a slot. */
  refusal: Error | undefined
  #number = 0

  /** Lets a function answer for a val, given as `{user}/{name}`. */
  serve(label: string, val: PlainVal, websocket?: Bun.WebSocketHandler<undefined>): void {
    const { seen } = this
    const server = Bun.serve({
      unix: this.#newPath(label),
      fetch(request, self) {
        const path = toPath(request.url)
        seen.push({ path, headers: request.headers })
        const isUpgraded =
          websocket !== undefined && request.headers.has("upgrade") && self.upgrade(request)
        return isUpgraded ? undefined : val(request, path)
      },
      websocket: websocket ?? { message() {} },
    })
    this.#servers.push({ stop: () => server.stop(true) })
  }

  /** Lets a val write any bytes. */
  serveRaw(label: string, val: RawVal): void {
    const open = new Set<Socket>()
    const server: Server = createServer((socket) => {
      open.add(socket)
      socket.on("error", () => {}).on("data", (head) => val(socket, head.toString()))
    })
    server.listen(this.#newPath(label))
    this.#servers.push({
      stop() {
        for (const socket of open) socket.destroy()
        server.close()
      },
    })
  }

  async acquire(program: Program, run: RunListener): Promise<RunSlot> {
    if (this.refusal) throw this.refusal
    if (program.isHttp) this.started.push(program.line.split(" ")[0] ?? "")
    const path = this.#paths.get(program.label) ?? ""
    const slot: RunSlot = new PlainSlot(path, this.#clientOf(path), run, () =>
      this.taken.delete(slot),
    )
    this.taken.add(slot)
    await run.begin?.(slot)
    return slot
  }

  retire(): void {}

  endAll(): void {}

  runsOf(): number {
    return this.taken.size
  }

  status() {
    return idleStatus
  }

  async stop(): Promise<void> {
    for (const client of this.#clients.values()) client.stop()
    for (const server of this.#servers) server.stop()
    await rm(this.#folder, { recursive: true, force: true })
  }

  #clientOf(path: string): GuestClient {
    const client = this.#clients.get(path) ?? new GuestClient(path)
    this.#clients.set(path, client)
    return client
  }

  #newPath(label: string): string {
    const path = join(this.#folder, `${++this.#number}.sock`)
    this.#paths.set(label, path)
    return path
  }
}

class PlainSlot implements RunSlot {
  readonly mask = noMask
  readonly #stopped = Promise.withResolvers<Stopped>()

  constructor(
    readonly path: string,
    readonly client: GuestClient,
    readonly run: RunListener,
    readonly release: () => void,
  ) {}

  fetch({ host, target, method, headers, body, client }: SlotRequest): Promise<HttpOutcome> {
    const response = new Promise<HttpOutcome>((resolve) => {
      const exchange = this.client.send(
        { method, host, path: `/h${this.run.id}${target}`, headers, body },
        {
          onResponse(response) {
            if (!response.headers.some(([name]) => name === "x-hamlet-failure"))
              resolve({ kind: "responded", response: response })
            else
              void readResponseText(response).then((text) =>
                resolve({ kind: "stopped", status: "failed", error: JSON.parse(text) }),
              )
          },
          onFailure: ({ message }) =>
            resolve(stopped(client?.signal.aborted ? "cancelled" : "crashed", message)),
        },
      )
      client?.signal.addEventListener("abort", () => exchange.abort())
    })
    return Promise.race([response, this.#stopped.promise])
  }

  connect({ host, target, headers, client }: SlotRequest): Promise<SocketOutcome> {
    const protocols = (headers.find(([name]) => name === "sec-websocket-protocol")?.[1] ?? "")
      .split(", ")
      .filter(Boolean)
    const options = { protocols, headers: { host } } as unknown as string[]
    const socket = new WebSocket(`ws+unix://${this.path}:/h${this.run.id}${target}`, options)
    const opening = new Promise<SocketOutcome>((resolve) => {
      socket.addEventListener("open", () =>
        resolve({ kind: "opened", socket, protocol: socket.protocol }),
      )
      socket.addEventListener("error", () =>
        resolve(
          stopped(
            client?.signal.aborted ? "cancelled" : "crashed",
            "the program did not open a WebSocket",
          ),
        ),
      )
    })
    return Promise.race([opening, this.#stopped.promise])
  }

  call(): Promise<CallOutcome> {
    throw new Error("nobody calls a val through the gateway")
  }

  stop(status: "cancelled" | "timed_out"): void {
    this.#stopped.resolve(stopped(status, `The run was ${status}`))
    this.release()
  }
}

function stopped(status: Stopped["status"], message: string): Stopped {
  return { kind: "stopped", status, error: { name: "Stopped", message } }
}

/** Without the id of the run that stands before it. */
function toPath(url: string): string {
  return url.slice(url.indexOf("/h") + 38)
}
