import type { ErrorCode } from "@hamlet/contract"
import type { TokenUses } from "../domain/accounts/token-uses.ts"
import type { AuthenticationDeps } from "../domain/accounts/tokens.ts"
import type { Allowances } from "../domain/limits/allowances.ts"
import type { LiveRun, NewRun } from "../domain/runs/live-runs.ts"
import type { Program, Runner } from "../domain/runs/runner.ts"
import type { Cipher } from "../domain/secrets/cipher.ts"
import type { Val, ValStore } from "../domain/vals/vals.ts"
import type { Counter } from "../shared/counter.ts"
import type { GatewayLimits } from "./limits.ts"
import type { SocketRelay } from "./sockets/socket-relay.ts"

/** What the gateway needs. */
export interface GatewayDeps extends AuthenticationDeps {
  /** The address of the API. */
  readonly baseUrl: string
  /** Host and port under which vals have addresses of their own. */
  readonly valsDomain: string
  readonly vals: Pick<ValStore, "findById" | "findByName">
  readonly cipher: Pick<Cipher, "sign">
  readonly tokenUses: Pick<TokenUses, "note">
  readonly programs: { of(val: Val, accountId: string): Promise<Program> }
  readonly runner: Pick<Runner, "acquire">
  readonly allowances: Pick<Allowances, "takeRun">
  readonly runs: { open(run: NewRun): LiveRun }
  readonly refusals: Pick<Counter<ErrorCode>, "increment">
  readonly limits?: Partial<GatewayLimits>
  /** Writes a line for each request; absent when the operator wants none. */
  readonly logRequest: ((fields: object) => void) | undefined
  /** Whether the lines have the addresses of clients. */
  readonly hasAddressesInLog: boolean
  newId(): string
  /** A mistake of ours, for the log. */
  onError(error: unknown): void
}

/** The connection that a request came by. */
export interface GatewayConnection {
  /** Of the client. */
  address(): string
  /** Seconds without traffic after which the connection is closed; 0 for never. */
  timeout(seconds: number): void
  /** Makes it a WebSocket, whose events the gateway's `websocket` handlers are to get. */
  upgrade(options: {
    readonly data: SocketRelay
    readonly headers: Record<string, string>
  }): boolean
}
