import type { Socket, TCPSocketListener } from "bun"

interface Link {
  isSilent: boolean
  server: Socket<undefined> | undefined
  readonly early: Buffer[]
}

/**
 * Stands between a client and a server on a Unix socket, and can silence its connections: they stay
 * open, but nothing passes any more.
 */
export class SilentProxy {
  readonly #listener: TCPSocketListener<Link>
  readonly #links = new Set<Link>()

  constructor(unix: string) {
    const links = this.#links
    this.#listener = Bun.listen<Link>({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        async open(client) {
          const link: Link = { isSilent: false, server: undefined, early: [] }
          client.data = link
          links.add(link)
          const server = await Bun.connect<undefined>({
            unix,
            socket: {
              data: (_, chunk) => {
                if (!link.isSilent) client.write(chunk)
              },
              close: () => {
                client.end()
              },
            },
          })
          link.server = server
          for (const chunk of link.early) server.write(chunk)
        },
        data(client, chunk) {
          const { isSilent, server, early } = client.data
          if (isSilent) return
          if (server === undefined) early.push(Buffer.from(chunk))
          else server.write(chunk)
        },
        close: (client) => {
          links.delete(client.data)
          client.data.server?.end()
        },
      },
    })
  }

  get port(): number {
    return this.#listener.port
  }

  /** Silences the connections there are now; new ones pass. */
  silence(): void {
    for (const link of this.#links) link.isSilent = true
  }

  stop(): void {
    this.#listener.stop(true)
  }
}
