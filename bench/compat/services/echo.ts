import { existsSync } from "node:fs"
import type { Certificate } from "@hamlet/kit/testing"
import type { MailSink } from "../../../packages/server/test/support/fakes/mail-sink.ts"

/** A silent WebSocket accepts messages and never sends one. */
interface SocketData {
  readonly isSilent: boolean
}

/** Longer than any client waits. */
const slowMs = 30_000

const fontPaths = [
  "/usr/share/fonts/truetype/liberation/LiberationSans-Regular.ttf",
  "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
]
const fontPath = fontPaths.find((path) => existsSync(path))

/** The path of a font on the server, if this machine has one. */
export const fontRoute = fontPath === undefined ? undefined : "/font.ttf"

const feed = `<?xml version="1.0"?><rss version="2.0"><channel><title>Plays</title>
<item><title>Hamlet</title><link>https://plays.example/hamlet</link></item></channel></rss>`

/** A server that responds to each request with what it received; some paths are special. */
export function startEcho(mails: MailSink, tls?: Certificate): Bun.Server<SocketData> {
  return Bun.serve<SocketData>({
    hostname: "127.0.0.1",
    port: 0,
    ...(tls ? { tls } : {}),
    fetch: (request, server) => respond(request, server, mails),
    websocket: {
      message(socket, data) {
        if (socket.data.isSilent) return
        socket.send(typeof data === "string" ? `echo ${data}` : new Uint8Array(data))
      },
    },
  })
}

async function respond(
  request: Request,
  server: Bun.Server<SocketData>,
  mails: MailSink,
): Promise<Response | undefined> {
  const { pathname } = new URL(request.url)
  if (request.headers.get("upgrade")?.toLowerCase() === "websocket") {
    const data = { isSilent: pathname === "/silent" }
    return server.upgrade(request, { data }) ? undefined : new Response("no", { status: 400 })
  }
  if (pathname === "/mails")
    return Response.json(mails.messages.map(({ headers }) => headers.get("subject") ?? ""))
  if (pathname === "/feed.xml") return new Response(feed)
  if (pathname === fontRoute && fontPath) return new Response(Bun.file(fontPath))
  if (pathname === "/moved") return Response.redirect(new URL("/there", request.url).href, 302)
  if (pathname === "/slow") return Bun.sleep(slowMs).then(() => new Response("late"))
  if (pathname === "/events")
    return new Response("data: hi\n\n", { headers: { "content-type": "text/event-stream" } })
  return Response.json(await describe(request))
}

/**
 * The request, with the fields that clients of web services expect in a response: `data` for
 * GraphQL, `ok` and `result` for chats, `id` for records.
 */
async function describe(request: Request): Promise<object> {
  const { pathname: path, searchParams } = new URL(request.url)
  const text = await request.text()
  return {
    id: "echo",
    ok: true,
    fields: {},
    data: { hello: "world" },
    result: { hello: "world" },
    method: request.method,
    path,
    query: Object.fromEntries(searchParams),
    headers: Object.fromEntries(request.headers),
    body: toBody(text),
  }
}

function toBody(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
