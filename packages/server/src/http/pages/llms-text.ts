import type { Links } from "../response/links.ts"
import type { DocPage } from "./doc-pages.ts"

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
export function toLlmsText({ baseUrl, labelled }: Links, pages: readonly DocPage[]): string {
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
