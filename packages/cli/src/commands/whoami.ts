import { defineCall } from "../shapes.ts"

export const command = defineCall({
  examples: [
    ["hamlet whoami", "your username and the current server"],
    ["hamlet whoami --json", "your whole profile"],
  ],
  async call({ client, server }) {
    const me = await client.getMe()
    const name = server.name ?? null
    const confirmed = me.email === null || me.emailVerified ? "" : " (not confirmed)"
    return {
      json: { ...me, server: { name, url: server.url } },
      fields: [
        ["username", me.username],
        ...(me.actor ? [["person", me.actor.username] as const] : []),
        ["email", me.email, `${me.email ?? ""}${confirmed}`],
        ["server", name],
        ["url", server.url],
      ],
    }
  },
})
