import { ApiError } from "@hamlet/contract/client"
import { CliError } from "../cli-error.ts"
import { defineCommand } from "../command.ts"
import { limits } from "../limits.ts"
import type { Output } from "../output/output.ts"
import { connectTo } from "../servers/connection.ts"
import { type DeviceSignIn, startDeviceSignIn } from "../servers/device-sign-in.ts"
import { loadServers, type Servers } from "../servers/saved-servers.ts"
import { type SelectedServer, toServerUrl } from "../servers/select-server.ts"
import { type SignIn, saveSignIn, toServerLabel } from "../servers/sign-in.ts"
import { askHidden, canAsk } from "../terminal/ask.ts"
import { readInput } from "../terminal/read-input.ts"

const defaultUrl = "http://localhost:8080"

export const command = defineCommand({
  description: `On a terminal, shows an address and a code: enter the code there in a browser where you are signed in, or
enter a token here. In a pipe, reads a token from standard input; it is never an argument, because other
users of this machine can read those. Once the server has accepted the token, it is saved in a file that only
you can read, and commands use this server.`,
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
    const token = await findToken(url, output)
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

async function findToken(url: string, output: Output): Promise<string> {
  if (!canAsk()) return toToken(await readInput(limits.tokenBytesMax))
  const device = await startDeviceSignIn(url)
  if (!device) return toToken(await askHidden(`Token for ${url}: `))
  output.note(
    `Enter the code ${output.colour.bold(device.userCode)} at ${device.page}, or a token here`,
  )
  return await waitForEither(url, device)
}

/** The token that the user enters, or the one that comes when the user has entered the code. */
async function waitForEither(url: string, device: DeviceSignIn): Promise<string> {
  const [asking, waiting] = [new AbortController(), new AbortController()]
  const granted = device.wait(waiting.signal)
  const endAsking = () => asking.abort()
  granted.then(endAsking, endAsking)
  try {
    const typed = await askHidden(`Token for ${url}: `, asking.signal)
    // Someone who enters nothing waits for the browser.
    return typed?.trim() ? toToken(typed) : await granted
  } finally {
    waiting.abort()
  }
}

function toToken(text: string): string {
  const token = text.trim()
  if (token !== "") return token
  throw new CliError("usage", "Cannot sign in without a token", {
    advice: "the server prints the first user's token when it first starts",
  })
}

function currentUrl({ current, servers }: Servers): string | undefined {
  return current === undefined ? undefined : servers.get(current)?.url
}
