import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { type TestApi, type TestUser, testBaseUrl } from "../support/api.ts"

/** The revisions of the protocol that the tests speak: the current one and the one before. */
export const revisions = ["2026-07-28", "2025-11-25"] as const

export type Revision = (typeof revisions)[number]

/** What a tool returned. */
export interface ToolAnswer {
  readonly isError: boolean
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever they expect to be there
  readonly data: any
}

/** The official client, connected to a server in this process. */
export interface McpClient {
  readonly client: Client
  tool(name: string, args?: Record<string, unknown>): Promise<ToolAnswer>
}

/** Connects the official client as a user. */
export async function connectMcp(
  { hamlet }: TestApi,
  as: TestUser | string,
  {
    revision = revisions[0],
    path = "/mcp",
    baseUrl = testBaseUrl,
  }: { revision?: Revision; path?: string; baseUrl?: string } = {},
): Promise<McpClient> {
  const isModern = revision === revisions[0]
  const client = new Client(
    { name: "test", version: "1" },
    isModern ? { versionNegotiation: { mode: { pin: revision } } } : {},
  )
  const token = typeof as === "string" ? as : as.token
  await client.connect(
    new StreamableHTTPClientTransport(new URL(baseUrl + path), {
      fetch: (url, init) => hamlet.app.request(url, init),
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    }),
  )
  return {
    client,
    async tool(name, args = {}) {
      const result = await client.callTool({ name, arguments: args })
      const [first] = result.content
      return {
        isError: result.isError ?? false,
        text: first?.type === "text" ? first.text : "",
        data: result.structuredContent,
      }
    },
  }
}
