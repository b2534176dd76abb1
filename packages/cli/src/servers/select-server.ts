import { CliError } from "../cli-error.ts"
import { loadServers, type SavedServer } from "./saved-servers.ts"

/** The server to talk to. */
export interface SelectedServer {
  /** Absent when the environment names it. */
  readonly name: string | undefined
  readonly url: string
  readonly token: string | undefined
  /** Who the token is of, where that is known without asking. */
  readonly user: SavedServer["user"] | undefined
}

const toSignIn = '"hamlet login URL" signs you in to one'

/** The one that `--server` names, else the one that the environment names, else the current one. */
export function selectServer(
  env: Readonly<Record<string, string | undefined>>,
  name: string | undefined,
): SelectedServer {
  const { current, servers } = loadServers(env)
  if (name !== undefined) {
    const server = servers.get(name)
    if (server) return toSelected(name, server)
    throw new CliError(
      "notFound",
      `Cannot use server "${name}": you are not signed in to one of that name`,
      {
        advice: '"hamlet server list" shows which there are',
      },
    )
  }
  const { HAMLET_URL: url, HAMLET_TOKEN: token } = env
  if (url) {
    const known = [...servers].find(([, server]) => server.url === toServerUrl(url))
    if (known && !token) return toSelected(...known)
    return { name: undefined, url: toServerUrl(url), token: token || undefined, user: undefined }
  }
  const server = current === undefined ? undefined : servers.get(current)
  if (!server && servers.size > 0)
    throw new CliError("refused", "Cannot choose a server: none of them is the current one", {
      advice: '"hamlet server use" chooses one',
    })
  if (!server)
    throw new CliError("refused", "Cannot choose a server: you are not signed in to any", {
      advice: toSignIn,
    })
  return token
    ? { name: current, url: server.url, token, user: undefined }
    : toSelected(current, server)
}

function toSelected(name: string | undefined, { url, token, user }: SavedServer): SelectedServer {
  return { name, url, token, user }
}

/**
 * The address of a server as it is kept: without what has no meaning, so that it can be compared.
 */
export function toServerUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol))
    throw new CliError(
      "usage",
      `Cannot use "${text}" as the address of a server: it does not begin with http:// or https://`,
    )
  if (url.username !== "" || url.password !== "")
    throw new CliError("usage", "Cannot use an address with a password in it", {
      advice: "the token is asked for",
    })
  return url.origin + url.pathname.replace(/\/+$/, "")
}
