import { AppError } from "../../domain/app-error.ts"
import type { Endpoint } from "../call.ts"
import type { ApiParts } from "../nouns.ts"
import { type ApiResponse, content } from "../response/api-response.ts"
import type { Links } from "../response/links.ts"
import type { DocGroup, DocPage } from "./doc-pages.ts"
import { gzip } from "./page-files.ts"

const pagePattern = /^\/docs\/([a-z-]{1,60})\.md$/
const picturePattern = /^\/docs\/images\/([a-z-]{1,60})\.webp$/
const methods = ["GET", "HEAD", "OPTIONS"]

/** Finds the endpoint of a text of the documentation: each page as Markdown, all pages, a picture. */
export function findDocText(api: ApiParts, path: string): Endpoint | undefined {
  const respond = findResponder(api, path)
  return respond && { methods, respond: ({ request }) => respond(request) }
}

function findResponder(
  api: ApiParts,
  path: string,
): ((request: Request) => Promise<ApiResponse>) | undefined {
  if (path === "/llms.txt") return async () => toText(toLlmsText(api.links, await api.docs.list()))
  if (path === "/docs/pages.json")
    return async (request) =>
      gzip(
        content("application/json; charset=utf-8", await api.docs.toJson(), {
          "cache-control": "public, no-cache",
        }),
        request,
      )
  const [, page] = pagePattern.exec(path) ?? []
  if (page !== undefined) return () => respondPage(api, path, page)
  const [, picture] = picturePattern.exec(path) ?? []
  return picture === undefined ? undefined : () => respondPicture(api, path, picture)
}

async function respondPage({ docs }: ApiParts, path: string, name: string): Promise<ApiResponse> {
  const page = (await docs.list()).find((it) => it.name === name)
  if (!page) throw new AppError("route_not_found", `Cannot find ${path}: no page has this name`)
  return toText(page.text)
}

async function respondPicture(
  { docs }: ApiParts,
  path: string,
  name: string,
): Promise<ApiResponse> {
  const picture = await docs.findPicture(name)
  if (!picture)
    throw new AppError("route_not_found", `Cannot find ${path}: no picture has this name`)
  return content("image/webp", picture, { "cache-control": "public, max-age=3600" })
}

function toText(text: string): ApiResponse {
  return content("text/markdown; charset=utf-8", text, { "cache-control": "public, no-cache" })
}

/** What a model needs to know to write vals on this server, and where to read more. */
function toLlmsText({ baseUrl, labelled }: Links, pages: readonly DocPage[]): string {
  const listGroup = (group: DocGroup) =>
    pages
      .filter((page) => page.group === group)
      .map(({ name, title }) => `- [${title}](${baseUrl}/docs/${name}.md)`)
      .join("\n")
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

${listGroup("Write vals")}

## Tools

- MCP server for assistants: ${baseUrl}/mcp (Streamable HTTP); read-only at ${baseUrl}/mcp?readonly
- [OpenAPI 3.1 description of the API](${baseUrl}/openapi.json), [the same as pages](${baseUrl}/docs)
${listGroup("Tools")}
`
}
