import type { SlotRequest } from "../program/runner.ts"

/** Opens a WebSocket to a program, as its client would. Rejects when the program does not accept it. */
export function openGuestSocket(
  socketPath: string,
  path: string,
  request: SlotRequest,
): Promise<WebSocket> {
  const headers: Record<string, string> = { host: request.host }
  for (const [name, value] of request.headers) if (!isHandshake(name)) headers[name] = value
  const asked = request.headers.find(
    ([name]: readonly [string, string]) => name === "sec-websocket-protocol",
  )
  const protocols = (asked?.[1] ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter(Boolean)
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws+unix://${socketPath}:${path}`, {
      headers,
      protocols,
    } as unknown as string[])
    socket.binaryType = "arraybuffer"
    socket.addEventListener("open", () => resolve(socket), { once: true })
    const fail = () => reject(new Error("the program did not open a WebSocket"))
    socket.addEventListener("error", fail, { once: true })
    socket.addEventListener("close", fail, { once: true })
    const signal = request.client?.signal
    signal?.addEventListener("abort", () => socket.close(), { once: true })
    if (signal?.aborted) socket.close()
  })
}

/** Headers of the handshake, which the WebSocket client writes itself. */
function isHandshake(name: string): boolean {
  return (
    name.startsWith("sec-websocket-") ||
    name === "connection" ||
    name === "upgrade" ||
    name === "host"
  )
}
