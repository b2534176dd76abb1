import { createClient } from "@hamlet/contract/client"
import type { Command } from "commander"
import { CliError } from "../cli-error.ts"
import { defineCommand } from "../command.ts"
import type { Context } from "../context.ts"
import { limits } from "../limits.ts"
import { loadServers } from "../servers/saved-servers.ts"
import { toServerUrl } from "../servers/select-server.ts"
import { saveSignIn, toServerLabel } from "../servers/sign-in.ts"

interface JoinOptions {
  readonly link: string
  readonly username: string
  readonly email?: string
  readonly name?: string
}

export const command = defineCommand<JoinOptions>({
  description: `Makes an account with the name that you choose, on the server that the link names, and signs you in. The token is kept in a file that only you
can read. An invitation works once. Quote the link: a shell may take # for the beginning of a comment.`,
  examples: [["hamlet join 'https://vals.example/invitation#code=…' grace", "become grace there"]],
  configure: (command: Command) =>
    command
      .argument("<link>", "the invitation")
      .argument("<username>", "the name that you choose")
      .option("--email <address>", "your address")
      .option("--name <name>", "what to call the server; its host name where nothing is said"),
  run: join,
})

async function join(
  { env, output }: Context,
  { link, username, email, name: wanted }: JoinOptions,
): Promise<void> {
  const { url, code } = parseLink(link)
  const name = toServerLabel(loadServers(env), url, wanted)
  const client = createClient({ baseUrl: url, timeoutMs: limits.timeoutMs, retriesMax: 0 })
  const user = await client.acceptInvitation({
    code,
    username,
    ...(email !== undefined && { email }),
  })
  saveSignIn(env, name, { url, token: user.token, user: { id: user.id, username: user.username } })
  output.print({
    json: { name, url, username: user.username },
    plain: user.username,
    human: `Joined ${url} as ${output.colour.bold(user.username)}, and signed in`,
  })
}

function parseLink(link: string): { readonly url: string; readonly code: string } {
  const [, base = "", code = ""] = /^(.*)\/invitation\/?#code=(\S+)$/.exec(link.trim()) ?? []
  if (code === "")
    throw new CliError(
      "usage",
      `Cannot use "${link}" as an invitation: it should be as in https://vals.example/invitation#code=…`,
      {
        advice: "quote it, or the shell may cut it off at #",
      },
    )
  return { url: toServerUrl(base), code }
}
