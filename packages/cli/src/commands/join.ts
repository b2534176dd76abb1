import { createClient } from "@hamlet/contract/client"
import { CliError } from "../cli-error.ts"
import { defineCommand } from "../command.ts"
import { limits } from "../limits.ts"
import { loadServers } from "../servers/saved-servers.ts"
import { toServerUrl } from "../servers/select-server.ts"
import { saveSignIn, toServerLabel } from "../servers/sign-in.ts"

export const command = defineCommand({
  description: `Creates an account with the name you choose on the server in the link, and signs you in. The token is
saved in a file that only you can read. An invitation works once. Quote the link: shells may treat # as the
start of a comment.`,
  examples: [["hamlet join 'https://vals.example/invitation#code=…' grace", "join as grace"]],
  takes: {
    "<link>": "the invitation link",
    "<username>": "your new username",
    "--email <address>": "your email address",
    "--name <name>": "name for the server (default: its host name)",
  },
  async run({ env, output }, { link, username, email, name: wanted }) {
    const { url, code } = parseLink(link)
    const name = toServerLabel(loadServers(env), url, wanted)
    const client = createClient({ baseUrl: url, timeoutMs: limits.timeoutMs, retriesMax: 0 })
    const user = await client.acceptInvitation({ code, username, email })
    saveSignIn(env, name, {
      url,
      token: user.token,
      user: { id: user.id, username: user.username },
    })
    output.print({
      json: { name, url, username: user.username },
      plain: user.username,
      human: `Joined ${url} as ${output.colour.bold(user.username)} and signed in`,
    })
  },
})

function parseLink(link: string): { readonly url: string; readonly code: string } {
  const [, base = "", code = ""] = /^(.*)\/invitation\/?#code=(\S+)$/.exec(link.trim()) ?? []
  if (code === "")
    throw new CliError(
      "usage",
      `Cannot use "${link}" as an invitation: it should look like https://vals.example/invitation#code=…`,
      {
        advice: "quote the link: the shell may drop everything after #",
      },
    )
  return { url: toServerUrl(base), code }
}
