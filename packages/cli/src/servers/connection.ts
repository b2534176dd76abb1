import { type Client, createClient } from "@hamlet/contract/client"
import { CliError } from "../cli-error.ts"
import { limits } from "../limits.ts"
import { type SelectedServer, selectServer } from "./select-server.ts"

/** Who is signed in. */
export interface Me {
  readonly id: string
  readonly username: string
}

/** A server, and somebody who may ask it things. */
export interface Connection {
  readonly client: Client
  readonly server: SelectedServer
  /** Who the token is of. Asks the server where that is not known. */
  me(): Promise<Me>
}

/** Patience that differs from what most commands have. */
export interface RequestLimits {
  readonly timeoutMs?: number
  readonly retriesMax?: number
}

/** The server that is asked for. Nothing is sent before somebody asks for something. */
export function connect(
  env: Readonly<Record<string, string | undefined>>,
  name: string | undefined,
  patience: RequestLimits = {},
): Connection {
  return connectTo(selectServer(env, name), patience)
}

/** A connection to a server that is chosen already. */
export function connectTo(server: SelectedServer, patience: RequestLimits = {}): Connection {
  if (server.token !== undefined && !/^[\x21-\x7e]+$/.test(server.token))
    throw new CliError(
      "usage",
      "Cannot use this token: it is empty, or has characters that no token has",
    )
  const client = createClient({
    baseUrl: server.url,
    token: server.token,
    timeoutMs: patience.timeoutMs ?? limits.timeoutMs,
    retriesMax: patience.retriesMax ?? limits.retriesMax,
  })
  let asked: Promise<Me> | undefined
  return {
    client,
    server,
    me() {
      asked ??= server.user ? Promise.resolve(server.user) : client.getMe()
      return asked
    },
  }
}
