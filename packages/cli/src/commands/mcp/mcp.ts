import { ownerHeader } from "@hamlet/contract/owner-header"
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { Server } from "@modelcontextprotocol/server"
import { serveStdio } from "@modelcontextprotocol/server/stdio"
import { CliError } from "../../cli-error.ts"
import { defineCommand } from "../../command.ts"

/** A run may take as long as the server allows. */
const callMsMax = 3_600_000

export const command = defineCommand({
  description: `Speaks the Model Context Protocol on standard input and output, for assistants that start a program on
your machine. It passes everything on to the server, with the token that you are signed in with.`,
  examples: [
    ["hamlet mcp", "the tools of the current server"],
    ["hamlet mcp --read-only", "only tools that change nothing"],
    ["hamlet mcp --server work", "those of another server"],
  ],
  takes: {
    "--read-only": { help: "offer only tools that change nothing", default: false },
  },
  async run({ connect, interruption }, { readOnly }) {
    const { server } = await connect()
    const client = await connectAssistant(
      `${server.url}/mcp${readOnly ? "?readonly" : ""}`,
      server.token,
      server.owner,
    )
    const ended = new Promise((resolve) => process.stdin.once("close", resolve))
    const handle = serveStdio(() => createServer(client), { maxSubscriptions: 0 })
    const close = async () => {
      await handle.close()
      await client.close()
    }
    const forget = interruption.onEnd(close)
    await ended
    forget()
    await close()
  },
})

async function connectAssistant(
  url: string,
  token: string | undefined,
  owner: string | undefined,
): Promise<Client> {
  const client = new Client(
    { name: "hamlet-cli", version: "1" },
    { versionNegotiation: { mode: "auto" } },
  )
  const headers: Record<string, string> = {
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(owner === undefined ? {} : { [ownerHeader]: owner }),
  }
  try {
    await client.connect(
      new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }),
    )
    return client
  } catch (cause) {
    const isRefused = cause instanceof Error && /\b40[13]\b|unauthorized/i.test(cause.message)
    throw new CliError(
      isRefused ? "refused" : "unavailable",
      isRefused
        ? "Cannot use the tools of the server: it does not accept the token"
        : `Cannot reach the tools of the server at "${url}"`,
      { cause, ...(isRefused ? { advice: 'sign in with "hamlet login URL"' } : {}) },
    )
  }
}

/** Offers what the server offers. */
function createServer(client: Client): Server {
  const server = new Server(client.getServerVersion() ?? { name: "hamlet", version: "1" }, {
    capabilities: { tools: {} },
    instructions: client.getInstructions() ?? "",
  })
  server.setRequestHandler("tools/list", ({ params }) => client.listTools(params))
  server.setRequestHandler("tools/call", ({ params }, { mcpReq }) =>
    client.callTool(
      { name: params.name, arguments: params.arguments ?? {} },
      { signal: mcpReq.signal, timeout: callMsMax },
    ),
  )
  return server
}
