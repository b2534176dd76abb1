import { createServer } from "node:net"

/** What a tap lets through next: some bytes, or nothing for as long as anybody waits. */
export type Flow = { readonly bytes: Uint8Array } | { readonly waits: true }

/** A server that sends the same few bytes for every request, in pieces, up to a given size. */
export interface Tap extends Disposable {
  readonly url: string
  /** Everything before it waits has been taken. */
  readonly isDrained: Promise<void>
}

/** Opens one. */
export function openTap(flows: readonly Flow[]): Tap {
  const { promise: isDrained, resolve } = Promise.withResolvers<void>()
  const server = Bun.serve({
    port: 0,
    idleTimeout: 0,
    fetch: () => new Response(toStream(flows, resolve)),
  })
  return {
    url: `http://localhost:${server.port}`,
    isDrained,
    [Symbol.dispose]: () => void server.stop(true),
  }
}

/** A server that begins to answer with these bytes, and then breaks the connection. */
export async function openBrokenTap(bytes: Uint8Array): Promise<Pick<Tap, "url"> & Disposable> {
  const server = createServer((socket) => {
    socket.on("error", () => {})
    socket.once("data", () => {
      socket.write(
        `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${bytes.length.toString(16)}\r\n`,
      )
      socket.write(bytes)
      socket.write("\r\n", () => socket.destroy())
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as { port: number }
  return { url: `http://127.0.0.1:${port}`, [Symbol.dispose]: () => void server.close() }
}

function toStream(flows: readonly Flow[], onDrained: () => void): ReadableStream<Uint8Array> {
  const left = flows.filter((flow) => !("bytes" in flow) || flow.bytes.length > 0)
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const flow = left.shift()
        if (!flow) controller.close()
        else if ("bytes" in flow) controller.enqueue(flow.bytes)
        else {
          onDrained()
          await new Promise(() => {})
        }
      },
    },
    { highWaterMark: 0 },
  )
}
