import { CliError } from "../cli-error.ts"
import type { Env } from "../context.ts"
import { loadServers, type Servers, saveServers } from "./saved-servers.ts"

/** A server that commands go to from now on, and as whom. */
export interface SignIn {
  readonly url: string
  readonly token: string
  /** Absent where the token may not say whose it is. */
  readonly user: { readonly id: string; readonly username: string } | undefined
}

/** What a server is called where nothing is said: as before, or as its host. */
export function toServerLabel(known: Servers, url: string, wanted: string | undefined): string {
  const name =
    wanted ?? [...known.servers].find(([, server]) => server.url === url)?.[0] ?? new URL(url).host
  if (!/^[\w][\w.:-]{0,99}$/.test(name))
    throw new CliError(
      "usage",
      `Cannot call a server "${name}": a name is of letters, digits and . : _ -`,
    )
  return name
}

/** Keeps the token for a server. */
export function saveSignIn(env: Env, name: string, server: SignIn): void {
  saveServers(env, { current: name, servers: new Map(loadServers(env).servers).set(name, server) })
}
