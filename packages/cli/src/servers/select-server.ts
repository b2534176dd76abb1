import { CliError } from "../cli-error.ts"
import { loadServers, type SavedServer } from "./saved-servers.ts"

/** The selected server. */
export interface SelectedServer {
  /** Absent if the server comes from HAMLET_URL. */
  readonly name: string | undefined
  readonly url: string
  readonly token: string | undefined
  /** The owner of the token, if saved. */
  readonly user: SavedServer["user"] | undefined
  /** The organisation for which commands act; the user, if it is absent. */
  readonly owner?: string | undefined
}

const signInAdvice = 'sign in with "hamlet login URL"'

/** Selects the server of `--server`, else of HAMLET_URL, else the current one. */
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
      `Cannot use server "${name}": you are not signed in to a server with that name`,
      {
        advice: 'see "hamlet server list"',
      },
    )
  }
  const { HAMLET_URL: url, HAMLET_TOKEN: token } = env
  if (url) {
    const saved = [...servers].find(([, server]) => server.url === toServerUrl(url))
    if (saved && !token) return toSelected(...saved)
    return { name: undefined, url: toServerUrl(url), token: token || undefined, user: undefined }
  }
  const server = current === undefined ? undefined : servers.get(current)
  if (!server && servers.size > 0)
    throw new CliError("refused", "Cannot select a server: none is current", {
      advice: 'select one with "hamlet server use"',
    })
  if (!server)
    throw new CliError("refused", "Cannot select a server: you are not signed in", {
      advice: signInAdvice,
    })
  return token
    ? { name: current, url: server.url, token, user: undefined }
    : toSelected(current, server)
}

function toSelected(name: string | undefined, { url, token, user }: SavedServer): SelectedServer {
  return { name, url, token, user }
}

/** Normalises the URL of a server, so that URLs can be compared. */
export function toServerUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol))
    throw new CliError(
      "usage",
      `Cannot use "${text}" as the URL of a server: it does not start with http:// or https://`,
    )
  if (url.username !== "" || url.password !== "")
    throw new CliError("usage", "Cannot use a URL that contains a password", {
      advice: "you are prompted for the token",
    })
  return url.origin + url.pathname.replace(/\/+$/, "")
}
