import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { loadServers, saveServers } from "../../servers/saved-servers.ts"
import { selectServer } from "../../servers/select-server.ts"

interface UseOptions {
  readonly server: string
}

export const command = defineCommand<UseOptions>({
  description: "To use another server for a single command, pass --server.",
  examples: [["hamlet server use work", "use the server named work from now on"]],
  configure: (command: Command) => command.argument("<server>", "name of the server"),
  run: useServer,
})

async function useServer({ env, output }: Context, { server: name }: UseOptions): Promise<void> {
  const { url } = selectServer(env, name)
  saveServers(env, { ...loadServers(env), current: name })
  output.print({ json: { name, url }, plain: name, human: `Using ${url}` })
}
