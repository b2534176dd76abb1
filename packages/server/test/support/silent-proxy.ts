import type { Socket, TCPSocketListener } from "bun"

interface Link {
  server: Socket<undefined> | undefined
  readonly early: Buffer[]
}

/** Stands between a client and a server on a Unix socket, and can fall silent: connections stay open, but nothing passes any more. */
export class SilentProxy {
  readonly #listener: TCPSocketListener<Link>
  isSilent = false

  constructor(unix: string) {
    const proxy = this
    this.#listener = Bun.listen<Link>({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        async open(client) {
          client.data = { server: undefined, early: [] }
          const server = await Bun.connect<undefined>({
            unix,
            socket: {
              data: (_, chunk) => {
                if (!proxy.isSilent) client.write(chunk)
              },
              close: () => client.end(),
            },
          })
          client.data.server = server
          for (const chunk of client.data.early) server.write(chunk)
        },
        data(client, chunk) {
          if (proxy.isSilent) return
          if (client.data.server === undefined) client.data.early.push(Buffer.from(chunk))
          else client.data.server.write(chunk)
        },
        close: (client) => {
          client.data.server?.end()
        },
      },
    })
  }

  get port(): number {
    return this.#listener.port
  }

  stop(): void {
    this.#listener.stop(true)
  }
}
