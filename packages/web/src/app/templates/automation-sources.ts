import { type TemplateSource, toOnlyFile } from "./template.ts"

const script = `// The default export is called with the arguments of the run.
export default function roll(sides = 6, times = 3): { rolls: number[]; sum: number } {
  const rolls = Array.from({ length: times }, () => 1 + Math.floor(Math.random() * sides))
  console.log("rolled", rolls)
  return { rolls, sum: rolls.reduce((sum, roll) => sum + roll, 0) }
}
`

const report = `import { email } from "/std/email"

// Called when it is due; the tab Schedule shows when that is. A val may read the API of its account.
export default async function () {
  const response = await fetch(\`\${Deno.env.get("HAMLET_URL")}/v1/me/stats\`, {
    headers: { authorization: \`Bearer \${Deno.env.get("HAMLET_TOKEN")}\` },
  })
  if (!response.ok) throw new Error(\`the server responded \${response.status}\`)
  const { total } = await response.json()
  const text = \`Since yesterday: \${total.runs} runs, \${total.errors} failed, half of them within \${Math.round(total.p50Ms ?? 0)} ms.\`
  console.log(text)
  try {
    await email({ subject: "Your vals", text })
  } catch (error) {
    // The server may send no mail, or your address is not confirmed: the log has the report.
    console.warn(String(error))
  }
  return text
}
`

const inbox = `import { sqlite } from "/std/sqlite"

await sqlite.execute("create table if not exists inbox (at integer, sender text, subject text, text text)")

// Called with each mail; the tab Mail has the address and a form to try it.
export default async function ({ from, subject = "", text = "", attachments }: Email) {
  console.log(from, "wrote", subject, "with", attachments.length, "files")
  await sqlite.execute("insert into inbox values (?, ?, ?, ?)", [Date.now(), from, subject, text])
  const { rows } = await sqlite.execute("select count(*) as mails from inbox")
  return { mails: rows[0]?.mails, words: text.split(/\\s+/).filter(Boolean).length }
}
`

const mcp = `import { McpServer } from "npm:@modelcontextprotocol/sdk@1/server/mcp.js"
import { WebStandardStreamableHTTPServerTransport } from "npm:@modelcontextprotocol/sdk@1/server/webStandardStreamableHttp.js"
import { z } from "npm:zod@4"

// Add the address of this val to your assistant as an MCP server.
function createServer(): McpServer {
  const server = new McpServer({ name: "hamlet", version: "1.0.0" })
  server.registerTool(
    "days_until",
    {
      description: "The number of days until a date",
      inputSchema: { date: z.iso.date().describe("Such as 2027-12-24") },
    },
    ({ date }) => {
      const days = Math.ceil((Date.parse(date) - Date.now()) / 86_400_000)
      return { content: [{ type: "text", text: \`\${days} days\` }] }
    },
  )
  return server
}

export default async function (request: Request): Promise<Response> {
  if (request.method === "GET" && !request.headers.get("accept")?.includes("text/event-stream"))
    return new Response("An MCP server: add this address to an assistant.")
  // Without sessions: each request has a server of its own.
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await createServer().connect(transport)
  return transport.handleRequest(request)
}
`

/** Templates of vals that start by themselves, or that programs call. */
export const automationSources: Readonly<Record<string, TemplateSource>> = {
  script: { name: "dice", privacy: "private", files: toOnlyFile("script", script) },
  report: {
    name: "daily_report",
    privacy: "private",
    files: toOnlyFile("interval", report),
    schedules: [{ file: "main.tsx", cron: "0 7 * * *" }],
  },
  inbox: { name: "inbox", privacy: "unlisted", files: toOnlyFile("email", inbox) },
  mcp: { name: "tools", privacy: "unlisted", files: toOnlyFile("http", mcp), usesPackages: true },
}
