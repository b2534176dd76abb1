import { afterEach, describe, expect, test } from "bun:test"
import { join } from "node:path"
import type { Socket } from "bun"
import type { SocketReply, SocketRequest } from "../src/protocol.ts"
import { GuestProcess } from "./support/guest-process.ts"

/** What a test does when the val wants a connection. Those before it are in their order. */
type OnConnect = (attempt: Attempt, earlier: readonly Attempt[]) => void

/** A connection that the val wants; once it is connected, it sends back what it gets. */
class Attempt {
  readonly address: string | undefined
  readonly #socket: Socket<Attempt | undefined>

  constructor(socket: Socket<Attempt | undefined>, address: string | undefined) {
    this.#socket = socket
    this.address = address
  }

  reply(reply: SocketReply): void {
    this.#socket.write(toFrame(reply))
  }

  receive(bytes: Buffer): void {
    this.#socket.write(`${this.address} got ${bytes}`)
  }
}

/** The host at the other end of the socket, which finds two addresses for each name. */
class FakeHost {
  readonly #attempts: Attempt[] = []
  readonly #listener

  constructor(path: string, onConnect: OnConnect) {
    this.#listener = Bun.listen<Attempt | undefined>({
      unix: path,
      socket: {
        data: (socket, bytes) => {
          if (socket.data) return socket.data.receive(bytes)
          const request = JSON.parse(bytes.toString("utf8", 2)) as SocketRequest
          if (request.kind !== "connect")
            return void socket.write(toFrame({ kind: "found", addresses: [...addresses] }))
          socket.data = new Attempt(socket, request.address)
          onConnect(socket.data, this.#attempts)
          this.#attempts.push(socket.data)
        },
      },
    })
  }

  stop(): void {
    this.#listener.stop(true)
  }
}

const addresses = ["192.0.2.1", "2001:db8::1"] as const
const connected = { kind: "connected", address: addresses[1] } as const

function toFrame(reply: SocketReply): Buffer {
  const json = Buffer.from(JSON.stringify(reply))
  return Buffer.concat([Buffer.from([json.length >> 8, json.length & 255]), json])
}

const opened: (GuestProcess | FakeHost)[] = []
afterEach(async () => {
  for (const one of opened.splice(0)) await one.stop()
})

/** A val that connects to a name, does not wait long for its first address, and sends a word. */
const connecting = `import net from "node:net"
export default () => new Promise((resolve, reject) => {
  const socket = net.connect({ host: "db.test", port: 5432, autoSelectFamilyAttemptTimeout: 10 })
  socket.on("connect", () => socket.write("hello"))
  socket.on("data", (bytes) => { socket.destroy(); resolve(String(bytes)) })
  socket.on("error", reject)
})`

async function connect(onConnect: OnConnect) {
  const guest = new GuestProcess()
  const host = new FakeHost(join(guest.folder, "sockets/tcp.sock"), onConnect)
  opened.push(guest, host)
  const proxy = `unix:${join(guest.folder, "sockets/out.sock")}`
  await guest.start({ HTTP_PROXY: proxy, HTTPS_PROXY: proxy })
  await guest.load(connecting, { isHttp: false })
  const { value, error } = await guest.call()
  return { guest, outcome: error?.message ?? value }
}

describe("provideNodeSockets", () => {
  test.each([
    ["a connection", connected],
    ["a refusal", { kind: "refused", code: "EACCES", message: "Cannot connect: too late" }],
  ] as const)(
    "ignores %s of an attempt that Node has given up for the next address",
    async (_, late) => {
      // On a busy machine, Node may have given up the first before the host hears of it.
      const { guest, outcome } = await connect((attempt, [first]) => {
        if (attempt.address !== addresses[1]) return
        first?.reply(late)
        attempt.reply(connected)
      })
      expect(outcome).toBe(`${addresses[1]} got hello`)
      await guest.settle()
      expect(guest.messages.filter(({ kind }) => kind === "uncaught")).toEqual([])
    },
  )
})
