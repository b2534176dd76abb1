import { chmodSync, mkdirSync, readFileSync } from "node:fs"
import { homedir } from "node:os"
import { dirname, join } from "node:path"
import { CliError } from "../cli-error.ts"
import { writeFileWhole } from "../files/write-file.ts"
import { limits } from "../limits.ts"

/** A saved server. */
export interface SavedServer {
  readonly url: string
  readonly token: string
  /** The owner of the token, cached to save a request. Absent if the token may not read it. */
  readonly user?: { readonly id: string; readonly username: string } | undefined
}

/** All saved servers, by name. */
export interface Servers {
  readonly current: string | undefined
  readonly servers: ReadonlyMap<string, SavedServer>
}

type Env = Readonly<Record<string, string | undefined>>

/** The path of the file. */
function serversPath(env: Env): string {
  // XDG requires that relative paths are ignored.
  const xdg = env.XDG_CONFIG_HOME?.startsWith("/")
    ? env.XDG_CONFIG_HOME
    : join(env.HOME || homedir(), ".config")
  return join(env.HAMLET_CONFIG_DIR || join(xdg, "hamlet"), "servers.json")
}

/** Loads the saved servers; none before the first sign-in. */
export function loadServers(env: Env): Servers {
  const path = serversPath(env)
  let text: string
  try {
    text = readFileSync(path, "utf8")
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT")
      return { current: undefined, servers: new Map() }
    throw new CliError("failed", `Cannot read "${path}": ${(cause as Error).message}`, { cause })
  }
  const servers = parseServers(text)
  if (!servers)
    throw new CliError("failed", `Cannot read "${path}": its content is not valid`, {
      advice: "fix or delete the file",
    })
  return servers
}

/** Saves the servers atomically, in a file that only its owner can read. */
export function saveServers(env: Env, { current, servers }: Servers): void {
  if (servers.size > limits.serversMax)
    throw new CliError("failed", `Cannot save more than ${limits.serversMax} servers`, {
      advice: 'remove one with "hamlet server rm"',
    })
  const path = serversPath(env)
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    chmodSync(dirname(path), 0o700)
  } catch (cause) {
    throw new CliError("failed", `Cannot write "${path}": ${(cause as Error).message}`, { cause })
  }
  writeFileWhole(
    path,
    `${JSON.stringify({ current, servers: Object.fromEntries(servers) }, undefined, 2)}\n`,
    0o600,
  )
}

function parseServers(text: string): Servers | undefined {
  try {
    const { current, servers } = JSON.parse(text)
    const entries = Object.entries(servers ?? {})
    if (!entries.every(([, server]) => isSavedServer(server))) return undefined
    return {
      current: typeof current === "string" ? current : undefined,
      servers: new Map(entries as [string, SavedServer][]),
    }
  } catch {
    return undefined
  }
}

function isSavedServer(value: unknown): value is SavedServer {
  const { url, token, user } = (value ?? {}) as Partial<SavedServer>
  const fields = user === undefined ? [url, token] : [url, token, user?.id, user?.username]
  return fields.every((field) => typeof field === "string")
}
