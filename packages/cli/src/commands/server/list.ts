import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { loadServers } from "../../servers/saved-servers.ts"

export const command = defineCommand({
  examples: [["hamlet server list", "list servers; * marks the current one"]],
  run: listServers,
})

async function listServers({ env, output }: Context): Promise<void> {
  const { current, servers } = loadServers(env)
  async function* rows() {
    for (const [name, { url, user }] of servers)
      yield { name, url, username: user?.username ?? null, isCurrent: name === current }
  }
  await output.list(rows(), {
    empty: 'Not signed in; sign in with "hamlet login URL"',
    columns: [
      { title: "", value: ({ isCurrent }) => (isCurrent ? "*" : "") },
      { title: "name", value: ({ name }) => name, paint: (colour) => colour.bold },
      { title: "url", value: ({ url }) => url },
      { title: "user", value: ({ username }) => username },
    ],
  })
}
