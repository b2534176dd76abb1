import { CliError } from "../cli-error.ts"
import type { Env } from "../context.ts"
import { loadServers, type Servers, saveServers } from "./saved-servers.ts"

/** A server to use from now on, and its token. */
export interface SignIn {
  readonly url: string
  readonly token: string
  /** Absent if the token may not read its owner. */
  readonly user: { readonly id: string; readonly username: string } | undefined
}

/** The name of a server: the given one, the saved one of its URL, or its host. */
export function toServerLabel(known: Servers, url: string, given: string | undefined): string {
  const name =
    given ?? [...known.servers].find(([, server]) => server.url === url)?.[0] ?? new URL(url).host
  if (!/^[\w][\w.:-]{0,99}$/.test(name))
    throw new CliError("usage", `Cannot name a server "${name}": use letters, digits and . : _ -`)
  return name
}

/** Saves a server and makes it current. */
export function saveSignIn(env: Env, name: string, server: SignIn): void {
  saveServers(env, { current: name, servers: new Map(loadServers(env).servers).set(name, server) })
}
