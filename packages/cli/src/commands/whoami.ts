import { defineCommand } from "../command.ts"
import type { Context } from "../context.ts"

export const command = defineCommand({
  examples: [
    ["hamlet whoami", "your username and the current server"],
    ["hamlet whoami --json", "your whole profile"],
  ],
  run: showCurrentUser,
})

async function showCurrentUser({ connect, output }: Context): Promise<void> {
  const { client, server } = await connect()
  const me = await client.getMe()
  output.record({ ...me, server: { name: server.name ?? null, url: server.url } }, [
    ["username", me.username],
    [
      "email",
      me.email,
      me.email === null || me.emailVerified ? (me.email ?? "") : `${me.email} (not confirmed)`,
    ],
    ["server", server.name ?? null],
    ["url", server.url],
  ])
}
