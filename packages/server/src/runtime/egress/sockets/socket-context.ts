import type { EgressClient } from "../../sandbox/egress-listener.ts"
import type { EgressLimits } from "../egress-limits.ts"
import type { RoutePolicy } from "../policy/decide.ts"
import type { CountedRequest } from "../proxy/proxied-request.ts"

/** What the sockets of one sandbox share. */
export interface SocketContext {
  readonly limits: EgressLimits
  readonly policy: RoutePolicy
  /** The process in the sandbox. Pending until it is known. */
  readonly client: Promise<EgressClient>
  /** Counts a connection of the account's sandboxes; undefined if there are too many. */
  admit(): (() => void) | undefined
  /** Counts a lookup, or throws a Refusal. Returns a function that ends the count. */
  openLookup(): () => void
  /** Counts one more socket of the account, or throws a Refusal. */
  openSocket(ownerId: string): () => void
  /**
   * Serves the requests to this server that follow on a connection. It receives the events of the
   * connection from then on. Resolves when it is closed.
   */
  serveOwn(client: SandboxSocket, origin: string, run: string): Promise<void>
  takeBytes(ownerId: string, bytes: number): void
  countRequest(request: CountedRequest): void
  onError(error: unknown): void
}

/** What receives the events of a connection from the sandbox. */
export interface ClientEvents {
  receive(bytes: Buffer): void
  drain(): void
  /** The sandbox sends no more bytes. */
  ended(): void
  closed(): void
}

export type SandboxSocket = Bun.Socket<ClientEvents>
