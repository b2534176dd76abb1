import { waitUntil } from "@hamlet/kit/testing"

/** A WebSocket to a val. */
export interface OpenSocket {
  send(text: string): void
  readonly closed: Promise<void>
}

/** Waits until the val has a process: a busy machine may not start one in time at first. */
export async function startProcess(host: string, label: string): Promise<void> {
  const [, port = ""] = host.split(":")
  const headers = { host: `${label}.localhost:${port}` }
  await waitUntil(
    async () => (await fetch(`http://127.0.0.1:${port}/`, { headers })).status !== 503,
  )
}

/** Connects to the web address of a val, whatever the names of this machine resolve to. */
export async function openSocket(host: string, label: string): Promise<OpenSocket> {
  const [, port = ""] = host.split(":")
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`, {
    headers: { host: `${label}.localhost:${port}` },
  } as unknown as string[])
  const opened = Promise.withResolvers<void>()
  const closed = Promise.withResolvers<void>()
  socket.onopen = () => opened.resolve()
  socket.onclose = ({ code, reason }) => {
    opened.reject(new Error(`The val refused the WebSocket: ${code} ${reason}`))
    closed.resolve()
  }
  await opened.promise
  return { send: (text) => socket.send(text), closed: closed.promise }
}
