import { createServer } from "node:http"
import type { OutgoingRequest } from "@hamlet/sandbox"

/**
 * The simplest egress proxy: forwards every request to its destination and reports it to `note`.
 * `redirect` may send it elsewhere.
 */
export function openForwardingProxy(
  path: string,
  note: (request: OutgoingRequest) => void = () => {},
  redirect: (url: string) => string = (url) => url,
): { stop(): void } {
  const server = createServer(async (request, response) => {
    const at = Date.now()
    const url = request.url ?? ""
    const common = { at, method: request.method ?? "", url, bytesSent: 0, durationMs: 0 }
    try {
      const headers = new Headers()
      for (const [name, value] of Object.entries(request.headers))
        if (typeof value === "string") headers.set(name, value)
      const answer = await fetch(redirect(url), { headers, redirect: "manual", decompress: false })
      const body = Buffer.from(await answer.arrayBuffer())
      note({ ...common, status: answer.status, blocked: null, bytesReceived: body.length })
      answer.headers.delete("transfer-encoding")
      response.writeHead(answer.status, Object.fromEntries(answer.headers))
      response.end(body)
    } catch {
      note({
        ...common,
        status: null,
        blocked: `${new URL(url).host} cannot be reached`,
        bytesReceived: 0,
      })
      response.writeHead(502)
      response.end("not reachable")
    }
  })
  server.listen(path)
  return {
    stop() {
      server.closeAllConnections()
      server.close()
    },
  }
}
