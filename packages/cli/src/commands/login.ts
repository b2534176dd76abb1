import type { Command } from "commander"
import { CliError } from "../cli-error.ts"
import { defineCommand } from "../command.ts"
import { toServerUrl } from "../config/select-server.ts"
import { loadServers, type Servers, saveServers } from "../config/servers.ts"
import { connectTo } from "../connection.ts"
import type { Context } from "../context.ts"
import { limits } from "../limits.ts"
import { askHidden, canAsk } from "../terminal/ask.ts"
import { readInput } from "../terminal/read-input.ts"

interface LoginOptions {
  readonly url: string | undefined
  readonly name?: string
}

const defaultUrl = "http://localhost:8080"

export const command = defineCommand<LoginOptions>({
  description: `The token is asked for, or read from standard input; it is never an argument, because others can read those. It is kept in
a file that only you can read, once the server has said that it is good. Commands go to this server from now on.`,
  examples: [
    ["hamlet login", `sign in to ${defaultUrl}, or again where you were last`],
    ["hamlet login https://vals.example --name work", "sign in to another server, and call it work"],
    ["hamlet login < token.txt", "with a token from a file"],
  ],
  takes: (command: Command) =>
    command.argument("[url]", "the address of the server").option("--name <name>", "what to call it; its host name where nothing is said"),
  run: logIn,
})

async function logIn({ env, output }: Context, options: LoginOptions): Promise<void> {
  const known = loadServers(env)
  const url = toServerUrl(options.url ?? env.HAMLET_URL ?? currentUrl(known) ?? defaultUrl)
  const name = options.name ?? findName(known, url) ?? new URL(url).host
  if (!/^[\w][\w.:-]{0,99}$/.test(name))
    throw new CliError("usage", `Cannot call a server "${name}": a name is of letters, digits and . : _ -`)
  const token = await readToken(url)
  // Nobody expects it who has just signed in.
  if (env.HAMLET_TOKEN) output.note("HAMLET_TOKEN is set, and commands use it instead of this token")
  const me = await connectTo({ name, url, token, user: undefined }).client.getMe()
  const server = { url, token, user: { id: me.id, username: me.username } }
  saveServers(env, { current: name, servers: new Map(known.servers).set(name, server) })
  output.tell({
    json: { name, url, username: me.username },
    plain: me.username,
    human: `Signed in to ${url} as ${output.colour.bold(me.username)}`,
  })
}

async function readToken(url: string): Promise<string> {
  const text = canAsk() ? await askHidden(`Token for ${url}: `) : await readInput(limits.tokenBytesMax)
  const token = text.trim()
  if (token === "")
    throw new CliError("usage", "Cannot sign in without a token", {
      advice: "the server prints that of its first user when it starts for the first time",
    })
  return token
}

function currentUrl({ current, servers }: Servers): string | undefined {
  return current === undefined ? undefined : servers.get(current)?.url
}

function findName({ servers }: Servers, url: string): string | undefined {
  return [...servers].find(([, server]) => server.url === url)?.[0]
}
