import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { loadServers, saveServers } from "../../servers/saved-servers.ts"
import { selectServer } from "../../servers/select-server.ts"

interface UseOptions {
  readonly server: string
}

export const command = defineCommand<UseOptions>({
  description: "For a single command, --server does the same.",
  examples: [["hamlet server use work", "commands go to the server called work from now on"]],
  configure: (command: Command) => command.argument("<server>", "its name"),
  run: useServer,
})

async function useServer({ env, output }: Context, { server: name }: UseOptions): Promise<void> {
  const { url } = selectServer(env, name)
  saveServers(env, { ...loadServers(env), current: name })
  output.print({ json: { name, url }, plain: name, human: `Commands go to ${url} from now on` })
}
