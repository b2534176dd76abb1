import type { ErrorCode } from "@hamlet/contract"
import type { Counter, SlowLog, Tracer } from "@hamlet/kit"
import type { Program, Runner } from "@hamlet/sandbox"
import type { TokenUses } from "../domain/accounts/token-uses.ts"
import type { Tokens } from "../domain/accounts/tokens.ts"
import type { Allowances } from "../domain/limits/allowances.ts"
import type { ResponseKeeper } from "../domain/runs/contents/response-keeper.ts"
import type { LiveRun, NewRun } from "../domain/runs/live-runs.ts"
import type { Cipher } from "../domain/secrets/cipher.ts"
import type { Val, ValStore } from "../domain/vals/vals.ts"
import type { GatewayLimits } from "./limits.ts"
import type { PageScript } from "./page-console/page-console.ts"
import type { SocketRelay } from "./sockets/socket-relay.ts"

/** The dependencies of the gateway. */
export interface GatewayDeps {
  /** The address of the API. */
  readonly baseUrl: string
  /** Host and port under which each val has its own host name. */
  readonly valsDomain: string
  readonly vals: Pick<ValStore, "findById" | "findByFile" | "findByName">
  readonly tokens: Pick<Tokens, "authenticate">
  readonly cipher: Pick<Cipher, "sign">
  readonly tokenUses: Pick<TokenUses, "note">
  /** Throws `database_unavailable` when this node writes no more: a run could not be recorded. */
  readonly schema: { assertKnown(): void }
  readonly programs: { of(val: Val, accountId: string): Promise<Program> }
  readonly runner: Pick<Runner, "acquire">
  readonly allowances: Pick<Allowances, "takeRun">
  readonly liveRuns: { open(run: NewRun): LiveRun }
  /** Decides what runs keep of the responses of vals. */
  readonly responses: ResponseKeeper
  readonly refusals: Pick<Counter<ErrorCode>, "increment">
  /** The script that shows the console of a page in the web app. */
  pageScript(): Promise<PageScript>
  readonly limits?: Partial<GatewayLimits>
  /** Logs one line per request; undefined when the log level excludes it. */
  readonly logRequest: ((fields: object) => void) | undefined
  readonly slowRequests: SlowLog
  /** Undefined where traces are off. */
  readonly tracer: Tracer | undefined
  /** Whether request lines contain client addresses. */
  readonly hasAddressesInLog: boolean
  newId(): string
  now(): number
  /** Logs an unexpected error. */
  onError(error: unknown): void
}

/** The connection of a request. */
export interface GatewayConnection {
  /** The client's address. */
  address(): string
  /** Sets the idle timeout of the connection in seconds; 0 disables it. */
  timeout(seconds: number): void
  /** Upgrades to a WebSocket; its events go to the handlers of `createSocketHandlers`. */
  upgrade(options: {
    readonly data: SocketRelay
    readonly headers: Record<string, string>
  }): boolean
}
