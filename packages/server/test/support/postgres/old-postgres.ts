import type { Socket, TCPSocketListener } from "bun"

interface Session {
  readonly received: Buffer[]
  isOpen: boolean
}

/** Claims to be a PostgreSQL of some release, and answers every query with its version. */
export class OldPostgres {
  readonly #listener: TCPSocketListener<Session>

  /** `version` as in `13.14`, `number` as in `130014`. */
  constructor(version: string, number: string) {
    this.#listener = Bun.listen<Session>({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        open: (socket) => {
          socket.data = { received: [], isOpen: false }
        },
        data: (socket, chunk) => answer(socket, chunk, [number, version, "UTF8"]),
      },
    })
  }

  get url(): string {
    return `postgres://ada@127.0.0.1:${this.#listener.port}/hamlet`
  }

  stop(): void {
    this.#listener.stop(true)
  }
}

const columns = ["number", "version", "encoding"]

/** A message has a letter, its length and a body; only the first one of a client has no letter. */
function answer(socket: Socket<Session>, chunk: Buffer, row: readonly string[]): void {
  const { data } = socket
  let rest: Buffer = Buffer.concat([...data.received.splice(0), chunk])
  for (;;) {
    const start = data.isOpen ? 1 : 0
    if (rest.length < start + 4 || rest.length < start + rest.readInt32BE(start)) break
    const letter = data.isOpen ? String.fromCharCode(rest[0] ?? 0) : ""
    rest = rest.subarray(start + rest.readInt32BE(start))
    data.isOpen = true
    const reply = replies(row)[letter]
    if (reply) socket.write(reply)
  }
  data.received.push(rest)
}

function replies(row: readonly string[]): Readonly<Record<string, Buffer>> {
  const ready = message("Z", Buffer.from("I"))
  const description = message(
    "T",
    count(columns),
    ...columns.map((name) =>
      Buffer.concat([text(name), Buffer.from("00000000000000000019ffffffffffff0000", "hex")]),
    ),
  )
  const values = row.map((value) => Buffer.concat([int32(value.length), Buffer.from(value)]))
  const result = Buffer.concat([
    message("D", count(values), ...values),
    message("C", text("SELECT 1")),
  ])
  return {
    // The first message: authentication is fine, and the server is ready.
    "": Buffer.concat([
      message("R", int32(0)),
      message("S", text("server_version"), text(row[1] ?? "")),
      ready,
    ]),
    P: message("1"),
    B: message("2"),
    D: Buffer.concat([message("t", Buffer.alloc(2)), description]),
    E: result,
    S: ready,
    Q: Buffer.concat([description, result, ready]),
  }
}

function message(letter: string, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  return Buffer.concat([Buffer.from(letter), int32(body.length + 4), body])
}

function count(items: readonly unknown[]): Buffer {
  return Buffer.from([0, items.length])
}

function text(value: string): Buffer {
  return Buffer.from(`${value}\0`)
}

function int32(value: number): Buffer {
  const buffer = Buffer.alloc(4)
  buffer.writeInt32BE(value)
  return buffer
}
