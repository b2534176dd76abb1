import { connect } from "node:tls"
import { waitUntil } from "@hamlet/kit/testing"

/** A client of a proxy on this machine, which names the hosts that DNS would resolve to it. */
export interface ProxyClient {
  fetch(host: string, path: string, init?: RequestInit): Promise<Response>
  /** Sends a request with exactly this target, and gives all of the response. */
  send(host: string, target: string): Promise<string>
  /** Begins to open a WebSocket. */
  connect(host: string): WebSocket
  /** Sends a text over a WebSocket, and gives what comes back. */
  echo(host: string, text: string): Promise<string>
}

/** `ca` is the authority of its certificate. */
export function createProxyClient(port: number, ca: string): ProxyClient {
  const connectSocket = (name: string) => {
    const tls = { ca, serverName: name, rejectUnauthorized: false }
    const options = { headers: { host: name }, tls }
    return new WebSocket(`wss://127.0.0.1:${port}/`, options as unknown as string)
  }
  return {
    connect: connectSocket,
    fetch: (name, path, init = {}) =>
      fetch(`https://127.0.0.1:${port}${path}`, {
        ...init,
        redirect: "manual",
        headers: { ...Object.fromEntries(new Headers(init.headers)), host: name },
        tls: { ca, serverName: name, checkServerIdentity },
      } as RequestInit),
    send(name, target) {
      const { promise, resolve, reject } = Promise.withResolvers<string>()
      const request = `GET ${target} HTTP/1.1\r\nhost: ${name}\r\nconnection: close\r\n\r\n`
      let received = ""
      const socket = connect({ host: "127.0.0.1", port, ca, servername: name, checkServerIdentity })
      socket.on("secureConnect", () => socket.write(request))
      socket.on("data", (bytes: Buffer) => {
        received += bytes.toString()
      })
      socket.on("close", () => resolve(received))
      socket.on("error", reject)
      return promise
    },
    async echo(name, text) {
      const socket = connectSocket(name)
      const { promise, resolve, reject } = Promise.withResolvers<string>()
      socket.onopen = () => socket.send(text)
      socket.onmessage = ({ data }) => resolve(String(data))
      socket.onclose = ({ code, reason }) =>
        reject(new Error(`the socket was closed: ${code} ${reason}`))
      return await promise.finally(() => socket.close())
    },
  }
}

const checkServerIdentity = () => undefined

/** Waits until a server listens there. */
export async function waitForPort(port: number): Promise<void> {
  await waitUntil(async () => {
    try {
      const socket = await Bun.connect({ hostname: "127.0.0.1", port, socket: { data() {} } })
      socket.end()
      return true
    } catch {
      return false
    }
  })
}
