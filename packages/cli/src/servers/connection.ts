import { type Client, createClient } from "@hamlet/contract/client"
import { CliError } from "../cli-error.ts"
import { limits } from "../limits.ts"
import { type SelectedServer, selectServer } from "./select-server.ts"

/** The signed-in user. */
export interface Me {
  readonly id: string
  readonly username: string
}

/** A client for the selected server. */
export interface Connection {
  readonly client: Client
  readonly server: SelectedServer
  /** For whom commands act. Asks the server if it is not saved. */
  me(): Promise<Me>
}

/** Time limits that differ from the defaults. */
export interface RequestLimits {
  readonly timeoutMs?: number
  readonly retriesMax?: number
}

/** Connects to the selected server. Sends nothing before the first request. */
export function connect(
  env: Readonly<Record<string, string | undefined>>,
  name: string | undefined,
  requestLimits: RequestLimits = {},
  owner: string | undefined = env.HAMLET_OWNER || undefined,
): Connection {
  return connectTo({ ...selectServer(env, name), owner }, requestLimits)
}

/** Connects to a server that is already selected. */
export function connectTo(server: SelectedServer, requestLimits: RequestLimits = {}): Connection {
  if (server.token !== undefined && !/^[\x21-\x7e]+$/.test(server.token))
    throw new CliError("usage", "Cannot use this token: it is empty or contains invalid characters")
  const { owner } = server
  if (owner !== undefined && !/^@?[\w-]+$/.test(owner))
    throw new CliError("usage", `Cannot act for "${owner}": it is no name of an organisation`)
  const client = createClient({
    baseUrl: server.url,
    token: server.token,
    owner,
    timeoutMs: requestLimits.timeoutMs ?? limits.timeoutMs,
    retriesMax: requestLimits.retriesMax ?? limits.retriesMax,
  })
  let user: Promise<Me> | undefined
  return {
    client,
    server,
    me() {
      const saved = owner === undefined ? server.user : undefined
      user ??= saved ? Promise.resolve(saved) : client.getMe()
      // The server may be unavailable at first.
      user.catch(() => {
        user = undefined
      })
      return user
    },
  }
}
