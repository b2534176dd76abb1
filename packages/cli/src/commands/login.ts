import { ApiError } from "@hamlet/contract/client"
import { CliError } from "../cli-error.ts"
import { defineCommand } from "../command.ts"
import { limits } from "../limits.ts"
import { connectTo } from "../servers/connection.ts"
import { loadServers, type Servers } from "../servers/saved-servers.ts"
import { type SelectedServer, toServerUrl } from "../servers/select-server.ts"
import { type SignIn, saveSignIn, toServerLabel } from "../servers/sign-in.ts"
import { askHidden, canAsk } from "../terminal/ask.ts"
import { readInput } from "../terminal/read-input.ts"

const defaultUrl = "http://localhost:8080"

export const command = defineCommand({
  description: `Prompts for the token, or reads it from standard input; it is never an argument, because other users of
this machine can read those. Once the server has accepted the token, it is saved in a file that only you
can read, and commands use this server.`,
  examples: [
    ["hamlet login", `sign in to the current server, or to ${defaultUrl}`],
    ["hamlet login https://vals.example --name work", "sign in to another server and name it work"],
    ["hamlet login < token.txt", "read the token from a file"],
  ],
  takes: {
    "[url]": "URL of the server",
    "--name <name>": "name for the server (default: its host name)",
  },
  async run({ env, output }, options) {
    const known = loadServers(env)
    const url = toServerUrl(options.url ?? env.HAMLET_URL ?? currentUrl(known) ?? defaultUrl)
    const name = toServerLabel(known, url, options.name)
    const token = await readToken(url)
    // The user who has just signed in does not expect another token to be used.
    if (env.HAMLET_TOKEN) output.note("HAMLET_TOKEN is set: commands use it instead of this token")
    const user = await findOwner({ name, url, token, user: undefined })
    saveSignIn(env, name, { url, token, user })
    if (!user) output.note('The token lacks the scope "user:read", so some commands will not work')
    output.print({
      json: { name, url, username: user?.username ?? null },
      plain: user?.username ?? "",
      human: `Signed in to ${url}${user ? ` as ${output.colour.bold(user.username)}` : ""}`,
    })
  },
})

/** The owner of the token; undefined where its scopes do not allow to ask. */
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
      advice: "the server prints the first user's token when it first starts",
    })
  return token
}

function currentUrl({ current, servers }: Servers): string | undefined {
  return current === undefined ? undefined : servers.get(current)?.url
}
