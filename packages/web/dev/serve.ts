// A development tool: the API reference over a stub of the API. From the root: `npx bun
// packages/web/dev/serve.ts [port]`
import { toOpenApi } from "@hamlet/contract/openapi"
import { startDocsServer } from "./docs-server.ts"

const server = startDocsServer({ port: Number(process.argv[2] ?? 8090), respond })
console.log(`${server.url.origin}/docs`)

async function respond(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url)
  if (pathname === "/openapi.json")
    return Response.json(toOpenApi({ baseUrl: server.url.origin, version: "0.1.0" }))
  const requestId = crypto.randomUUID()
  const headers = { "x-request-id": requestId }
  if (!request.headers.has("authorization")) {
    const error = {
      statusCode: 401,
      error: "Unauthorized",
      code: "unauthenticated",
      message: "Cannot respond: no token was sent",
      requestId,
    }
    return Response.json(error, {
      status: 401,
      headers: { ...headers, "www-authenticate": "Bearer" },
    })
  }
  if (request.method === "DELETE") return new Response(null, { status: 204, headers })
  return Response.json(
    {
      method: request.method,
      path: pathname + search,
      body: await request.text(),
      likeCount: 3,
      readme: null,
    },
    { headers },
  )
}
