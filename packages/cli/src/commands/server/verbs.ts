import { defineCommand, type Verbs } from "../../command.ts"
import { loadServers, saveServers } from "../../servers/saved-servers.ts"
import { selectServer } from "../../servers/select-server.ts"

const takesServer = { "<server>": "name of the server" } as const

export const verbs: Verbs = {
  list: defineCommand({
    summary: "List servers",
    examples: [["hamlet server list", "list servers; * marks the current one"]],
    async run({ env, output }) {
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
    },
  }),
  use: defineCommand({
    summary: "Select the current server",
    description: "To use another server for a single command, pass --server.",
    examples: [["hamlet server use work", "use the server named work from now on"]],
    takes: takesServer,
    async run({ env, output }, { server: name }) {
      const { url } = selectServer(env, name)
      saveServers(env, { ...loadServers(env), current: name })
      output.print({ json: { name, url }, plain: name, human: `Using ${url}` })
    },
  }),
  rm: defineCommand({
    summary: "Sign out of a server",
    description:
      'Deletes the saved token. The token itself stays valid; revoke it with "hamlet token revoke".',
    examples: [["hamlet server rm work", "sign out of the server named work"]],
    takes: takesServer,
    async run({ env, output }, { server: name }) {
      const { url } = selectServer(env, name)
      const { current, servers } = loadServers(env)
      const rest = new Map(servers)
      rest.delete(name)
      saveServers(env, { current: current === name ? undefined : current, servers: rest })
      output.print({ json: { name, url }, plain: name, human: `Signed out of ${name} (${url})` })
    },
  }),
}
