import { AppError } from "../../domain/app-error.ts"
import type { ApiParts } from "../nouns.ts"
import { type ApiResponse, content } from "../response/api-response.ts"
import type { Links } from "../response/links.ts"
import type { DocPage } from "./doc-pages.ts"

const pagePattern = /^\/docs\/([a-z-]{1,60})\.md$/

/** The documentation as text: `/llms.txt`, and each page as Markdown. */
export function findDocText(api: ApiParts, path: string) {
  const methods = ["GET", "HEAD", "OPTIONS"]
  if (path === "/llms.txt")
    return { methods, respond: async () => toText(toLlmsText(api.links, await api.docs.list())) }
  const name = pagePattern.exec(path)?.[1]
  return name === undefined ? undefined : { methods, respond: () => respondPage(api, path, name) }
}

async function respondPage({ docs }: ApiParts, path: string, name: string): Promise<ApiResponse> {
  const page = (await docs.list()).find((it) => it.name === name)
  if (!page) throw new AppError("route_not_found", `Cannot find ${path}: no page has this name`)
  return toText(page.text)
}

function toText(text: string): ApiResponse {
  return content("text/markdown; charset=utf-8", text, { "cache-control": "public, no-cache" })
}

/** The pages for those who write vals, in the order in which to read them. */
const valPages = [
  "vals",
  "std",
  "sqlite",
  "blobs",
  "schedules",
  "mail",
  "webhooks",
  "runs",
  "egress",
  "compatibility",
  "errors",
]
const toolPages = ["assistants", "cli", "tour"]

/** What a model needs to know to write vals on this server, and where to read more. */
function toLlmsText({ baseUrl, labelled }: Links, pages: readonly DocPage[]): string {
  const link = (name: string) => {
    const page = pages.find((it) => it.name === name)
    return page ? [`- [${page.title}](${baseUrl}/docs/${name}.md)`] : []
  }
  return `# Hamlet

> ${baseUrl} hosts vals: small TypeScript modules (TSX is allowed) that run on Deno, each in a sandbox of its own. Saving a val creates a version and puts it live at once; there is no build and no deployment.

## Write a val

The default export is called. The type of the val says by what:

\`\`\`ts
// type http: web requests to ${labelled("username-name")}
export default async function (request: Request): Promise<Response> {
  return Response.json({ path: new URL(request.url).pathname })
}
\`\`\`

\`\`\`ts
// type script: calls with arguments, POST ${baseUrl}/v1/run/username.name {"args": [1, 2]}
export default function add(a: number, b: number) {
  return a + b
}
\`\`\`

\`\`\`ts
// type interval: its schedule; type email: a mail to its address, as { from, subject, text, … }
import { sqlite } from "${baseUrl}/std/sqlite"

export default async function () {
  await sqlite.execute("create table if not exists visits (at text)")
  await sqlite.execute({ sql: "insert into visits values (?)", args: [new Date().toISOString()] })
}
\`\`\`

- Packages: \`npm:name@version\`, \`jsr:@scope/name@version\`, \`node:\` modules, https URLs. They are locked when the val is saved.
- The standard library is at \`${baseUrl}/std/…\`: \`blob\`, \`sqlite\`, \`email\`, \`openai\`, \`utils\`. It needs no key.
- Another val: \`import { x } from "${baseUrl}/v/username/name"\`, or \`name@3\` for version 3.
- Secrets of the owner are environment variables: \`Deno.env.get("NAME")\` or \`process.env.NAME\`.
- There is no file system that lasts and no port to listen on. Store data with \`blob\` or \`sqlite\`.
- \`console.log\` is kept with the run. A val that throws responds with an error, and its run has the stack.
- New vals are private. Privacy is \`public\`, \`unlisted\` or \`private\`.

## Read more about vals

${valPages.flatMap(link).join("\n")}

## Tools

- MCP server for assistants: ${baseUrl}/mcp (Streamable HTTP); read-only at ${baseUrl}/mcp?readonly
- [OpenAPI 3.1 description of the API](${baseUrl}/openapi.json), [the same as pages](${baseUrl}/docs)
${toolPages.flatMap(link).join("\n")}
`
}
