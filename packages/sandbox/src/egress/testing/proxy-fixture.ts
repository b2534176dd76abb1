import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { OutgoingRequest } from "../../program/outgoing-request.ts"
import type { RunListener } from "../../program/runner.ts"
import type { EgressClient } from "../../sandboxes/egress-listener.ts"
import { Egress, type EgressOptions } from "../egress.ts"
import { type EgressLimits, egressLimits } from "../egress-limits.ts"
import type { HostDecision } from "../policy/egress-policy.ts"
import type { ProxyListener } from "../proxy/proxy-listener.ts"
import { RawClient } from "./raw-client.ts"

/** What a test can replace. */
export interface ProxyFixtureOptions
  extends Partial<Pick<EgressOptions, "ca" | "takeBytes" | "resolveRecords">> {
  readonly limits?: Partial<EgressLimits>
  readonly own?: Partial<EgressOptions["own"]>
  readonly guest?: Partial<EgressClient>
  readonly decide?: (hostname: string, port: number) => HostDecision | Promise<HostDecision>
  readonly isLate?: boolean
}

/** The key of the fixture's guest. */
export const egressKey = "the-key"

/** Limits that a test may change while it goes on. */
type OpenLimits = { -readonly [Name in keyof EgressLimits]: EgressLimits[Name] }

/** A listener whose client, policy and upstream servers are controlled by the test. */
export class ProxyFixture {
  readonly #folder = mkdtempSync(join(tmpdir(), "hamlet-egress-"))
  readonly path = join(this.#folder, "out.sock")
  readonly socketsPath = join(this.#folder, "tcp.sock")
  readonly egress: Egress
  readonly listener: ProxyListener
  readonly guest: EgressClient
  readonly limits: OpenLimits
  /** What was recorded on the run. */
  readonly sent: OutgoingRequest[] = []
  readonly warnings: string[] = []
  readonly errors: unknown[] = []
  readonly #clients: RawClient[] = []

  constructor({
    limits,
    own,
    guest,
    decide = () => loopback,
    ca,
    takeBytes = () => {},
    resolveRecords = async () => [],
    isLate = false,
  }: ProxyFixtureOptions = {}) {
    const run: RunListener = {
      id: "run-1",
      depth: 3,
      log: ({ message }) => void this.warnings.push(message),
      skipLogs() {},
      fail() {},
      sent: (request) => void this.sent.push(request),
    }
    this.guest = {
      ownerId: "ada",
      egressKey,
      substitutions: [],
      findRun: (id) => (id === run.id ? { run, depth: run.depth } : { run: undefined, depth: 9 }),
      findSocketRun: (last) => last,
      mask: (text, charsMax) => text.replaceAll("s3cret", "***").slice(0, charsMax),
      ...guest,
    }
    this.limits = { ...egressLimits, sweepMs: 5, ...limits }
    this.egress = new Egress({
      policy: { checkHost: async ({ hostname, port }) => decide(hostname, port) },
      limits: this.limits,
      ca,
      own: {
        isApiHost: () => false,
        isProgramHost: () => false,
        fetchApi: async () => new Response("api"),
        address: () => undefined,
        ...own,
      },
      takeBytes,
      resolveRecords,
      privateDomains: [],
      onError: (error) => void this.errors.push(error),
    })
    this.listener = this.egress.open({ requests: this.path, sockets: this.socketsPath })
    if (!isLate) this.listener.setClient(this.guest)
  }

  /** A connection from the sandbox. */
  async connect(): Promise<RawClient> {
    const client = await RawClient.open(this.path)
    this.#clients.push(client)
    return client
  }

  /** Sends a text on a new connection. Resolves with the connection when it has a response. */
  async send(text: string): Promise<RawClient> {
    const client = await this.connect()
    client.send(text)
    await client.responded()
    return client
  }

  /** Sends a GET of the fixture's run. */
  get(url: string, headers = ""): Promise<RawClient> {
    return this.send(toGet(url, headers))
  }

  async stop(): Promise<void> {
    await this.egress.stop()
    for (const client of this.#clients) client.stop()
    rmSync(this.#folder, { recursive: true })
  }
}

/** The head of a GET of the fixture's run. */
export function toGet(url: string, headers = ""): string {
  return `GET ${url} HTTP/1.1\r\nhost: ignored.test\r\nx-hamlet-run: ${egressKey} run-1\r\n${headers}\r\n`
}

/** Every host resolves to this machine. */
export const loopback: HostDecision = { kind: "pass", addresses: ["127.0.0.1"], isAllowed: false }
