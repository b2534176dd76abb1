import type { ClientConnection, ConnectionPool } from "@hamlet/http1"
import type { EgressClient } from "../sandboxes/egress-listener.ts"
import type { EgressLimits } from "./egress-limits.ts"
import type { RoutePolicy } from "./policy/decide.ts"

/**
 * The listener of one sandbox, as its requests and its sockets see it. A method that counts returns
 * a function which ends the count, and throws a Refusal at the limit.
 */
export interface EgressContext {
  readonly limits: EgressLimits
  readonly policy: RoutePolicy
  readonly pool: ConnectionPool
  /** The process in the sandbox. Pending until it is known. */
  readonly client: Promise<EgressClient>
  /** Counts one more open request, or lookup. The API has rate limits of its own. */
  openRequest(isApi: boolean): () => void
  /** Counts one more socket of the account. */
  openSocket(ownerId: string): () => void
  /** Counts one more connection to a server. */
  openUpstream(): () => void
  /** Counts the file of a connection from the sandbox; undefined if there are too many. */
  openFile(): (() => void) | undefined
  /** Whether the sandbox may keep the connection after the response that begins now. */
  keep(connection: ClientConnection): boolean
  /**
   * Serves the requests to this server that follow on a connection. It receives the events of the
   * connection from then on. Resolves when it is closed.
   */
  serveOwn(client: SandboxSocket, origin: string, run: string): Promise<void>
  takeBytes(ownerId: string, bytes: number): void
  onError(error: unknown): void
}

/** Receives the events of a connection from the sandbox. */
export interface ClientEvents {
  receive(bytes: Buffer): void
  drain(): void
  /** The sandbox sends no more bytes. */
  ended(): void
  closed(): void
}

export type SandboxSocket = Bun.Socket<ClientEvents>
