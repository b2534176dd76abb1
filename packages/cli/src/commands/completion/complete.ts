import { defineCommand } from "../../command.ts"
import type { ValueKind } from "../../completion/describe.ts"
import type { Env } from "../../context.ts"
import { limits } from "../../limits.ts"
import { type Connection, connect } from "../../servers/connection.ts"
import { loadServers } from "../../servers/saved-servers.ts"

export const command = defineCommand({
  description:
    "For completion scripts: prints one word per line, and nothing when the server is unavailable.",
  examples: [["hamlet __complete val he", "names of vals that start with he"]],
  takes: { "<kind>": "val, secret, user or server", "[prefix]": "what is typed so far" },
  async run({ env, output }, { kind, prefix = "" }) {
    const words = sources[kind as ValueKind]
    if (!words) return
    try {
      for await (const word of words(env, prefix)) if (word.startsWith(prefix)) output.line(word)
    } catch {
      // An error message would disturb the user, who is typing.
    }
  },
})

type Source = (env: Env, prefix: string) => AsyncIterable<string>

const sources: Readonly<Partial<Record<ValueKind, Source>>> = {
  async *server(env) {
    yield* loadServers(env).servers.keys()
  },
  async *secret(env) {
    for await (const { name } of reach(env).client.items("listSecrets", {
      limit: limits.pageItemsMax,
    }))
      yield name
  },
  async *user(env) {
    yield (await reach(env).me()).username
  },
  async *val(env, prefix) {
    const connection = reach(env)
    const [username, name] = prefix.split("/")
    if (name === undefined) yield* listNames(connection, (await connection.me()).id, "")
    else if (username)
      yield* listNames(
        connection,
        (await connection.client.getUserByName({ username })).id,
        `${username}/`,
      )
  },
}

function reach(env: Env): Connection {
  return connect(env, undefined, { timeoutMs: limits.completeMs, retriesMax: 0 })
}

async function* listNames(
  { client }: Connection,
  userId: string,
  start: string,
): AsyncGenerator<string> {
  let left: number = limits.completeItemsMax
  const list = { userId, limit: limits.pageItemsMax, omit: ["code", "readme"] } as const
  for await (const { name } of client.items("listVals", list)) {
    if (left-- <= 0) return
    yield start + name
  }
}
