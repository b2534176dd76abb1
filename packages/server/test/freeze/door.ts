import type { Client } from "@hamlet/contract/client"
import type { HostileServer } from "./hostile-server.ts"

/** A way into the server, with the input that keeps it busy longest or makes it grow most. */
export interface Door {
  readonly name: string
  /** Sends the input and waits for the end. Throws if the server fails. */
  drive(stage: Stage): Promise<void>
}

/** A request that is made to keep the server busy. */
export interface SlowRequest {
  readonly method: string
  readonly path: string
  readonly body?: string | Uint8Array
  readonly headers?: Readonly<Record<string, string>>
}

/** The server, and what doors use. */
export interface Stage {
  readonly client: Client
  /** The host and port of the server. */
  readonly host: string
  /** The id of the val `takesArgs`. */
  readonly valId: string
  readonly smtpPort: number
  readonly metricsPort: number
  /** What answers the server: webhooks, a language model, a registry, a provider, a collector. */
  readonly outside: HostileServer
  /** What `send` adds to each request. */
  readonly headers: Readonly<Record<string, string>>
  /** Sends a request as the user and reads the response. Throws for status 500. */
  send(request: SlowRequest): Promise<string>
  /** Runs one of the vals of the stage. */
  run(valName: string): Promise<string>
}
