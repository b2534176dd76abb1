import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { loadServers, saveServers } from "../../servers/saved-servers.ts"
import { selectServer } from "../../servers/select-server.ts"

interface RmOptions {
  readonly server: string
}

export const command = defineCommand<RmOptions>({
  description:
    'Deletes the saved token. The token itself stays valid; revoke it with "hamlet token revoke".',
  examples: [["hamlet server rm work", "sign out of the server named work"]],
  configure: (command: Command) => command.argument("<server>", "name of the server"),
  run: removeServer,
})

async function removeServer({ env, output }: Context, { server: name }: RmOptions): Promise<void> {
  const { url } = selectServer(env, name)
  const { current, servers } = loadServers(env)
  const rest = new Map(servers)
  rest.delete(name)
  saveServers(env, { current: current === name ? undefined : current, servers: rest })
  output.print({ json: { name, url }, plain: name, human: `Signed out of ${name} (${url})` })
}
