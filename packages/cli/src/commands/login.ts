import { ApiError } from "@hamlet/contract/client"
import type { Command } from "commander"
import { CliError } from "../cli-error.ts"
import { defineCommand } from "../command.ts"
import type { Context } from "../context.ts"
import { limits } from "../limits.ts"
import { connectTo } from "../servers/connection.ts"
import { loadServers, type Servers } from "../servers/saved-servers.ts"
import { type SelectedServer, toServerUrl } from "../servers/select-server.ts"
import { type SignIn, saveSignIn, toServerLabel } from "../servers/sign-in.ts"
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
    [
      "hamlet login https://vals.example --name work",
      "sign in to another server, and call it work",
    ],
    ["hamlet login < token.txt", "with a token from a file"],
  ],
  configure: (command: Command) =>
    command
      .argument("[url]", "the address of the server")
      .option("--name <name>", "what to call it; its host name where nothing is said"),
  run: logIn,
})

async function logIn({ env, output }: Context, options: LoginOptions): Promise<void> {
  const known = loadServers(env)
  const url = toServerUrl(options.url ?? env.HAMLET_URL ?? currentUrl(known) ?? defaultUrl)
  const name = toServerLabel(known, url, options.name)
  const token = await readToken(url)
  // Nobody expects it who has just signed in.
  if (env.HAMLET_TOKEN)
    output.note("HAMLET_TOKEN is set, and commands use it instead of this token")
  const user = await findOwner({ name, url, token, user: undefined })
  saveSignIn(env, name, { url, token, user })
  if (!user)
    output.note(
      'The token may not say whose it is: it lacks the scope "user:read", so that some commands do not work with it',
    )
  output.print({
    json: { name, url, username: user?.username ?? null },
    plain: user?.username ?? "",
    human: `Signed in to ${url}${user ? ` as ${output.colour.bold(user.username)}` : ""}`,
  })
}

/** Who the token is of; undefined where the server knows the token, but not that it may ask. */
async function findOwner(server: SelectedServer): Promise<SignIn["user"]> {
  try {
    const { id, username } = await connectTo(server).client.getMe()
    return { id, username }
  } catch (error) {
    if (error instanceof ApiError && error.code === "missing_scope") return undefined
    throw error
  }
}

async function readToken(url: string): Promise<string> {
  const text = canAsk()
    ? await askHidden(`Token for ${url}: `)
    : await readInput(limits.tokenBytesMax)
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
