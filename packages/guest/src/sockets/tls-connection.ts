import type { Buffer } from "node:buffer"
import type { Duplex } from "node:stream"
import type { ConnectionOptions, TLSSocket } from "node:tls"

type Certificates = Deno.ConnectTlsOptions & Partial<Deno.TlsCertifiedKeyPem>

/** Deno's own TLS runs over TCP sockets of the kernel only, so `node:tls` does it. */
export async function connectTls({
  hostname = "127.0.0.1",
  port,
  cert,
  key,
  ...options
}: Certificates): Promise<Deno.TlsConn> {
  const { connect } = await loadTls()
  const socket = connect({
    host: hostname,
    port,
    ...toTlsOptions(hostname, options),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
  })
  await established(socket)
  return new TlsConnection(socket, toAddress(socket.remoteAddress ?? hostname, port))
}

/** Encrypts a connection that is open. The caller must not use it any more. */
export async function startTls(
  connection: Deno.TcpConn,
  { hostname = "127.0.0.1", ...options }: Deno.StartTlsOptions = {},
): Promise<Deno.TlsConn> {
  const { connect } = await loadTls()
  const stream = await toStream(connection)
  const socket = connect({ socket: stream, ...toTlsOptions(hostname, options) })
  await established(socket)
  return new TlsConnection(socket, connection.remoteAddr as Deno.NetAddr)
}

/** A connection as a stream of Node. */
async function toStream(connection: Deno.TcpConn): Promise<Duplex> {
  const { Duplex } = await import("node:stream")
  return new Duplex({
    read() {
      const bytes = new Uint8Array(readBytes)
      connection.read(bytes).then(
        (count) => void this.push(count === null ? null : bytes.subarray(0, count)),
        (error) => void this.destroy(error),
      )
    },
    write(bytes: Uint8Array, _encoding, done) {
      writeAll(connection, bytes).then(() => done(), done)
    },
    final(done) {
      connection.closeWrite().then(() => done(), done)
    },
    destroy(error, done) {
      connection.close()
      done(error)
    },
  })
}

async function writeAll(connection: Deno.TcpConn, bytes: Uint8Array): Promise<void> {
  for (let sent = 0; sent < bytes.length; ) sent += await connection.write(bytes.subarray(sent))
}

/** The most that is read at once. */
const readBytes = 65_536

/** An address as Deno's connections have it. */
export function toAddress(hostname: string, port: number): Deno.NetAddr {
  return { transport: "tcp", hostname, port }
}

/** Loading it takes milliseconds, so that happens when it is first needed. */
function loadTls(): Promise<typeof import("node:tls")> {
  return import("node:tls")
}

const address = /^[\d.]+$|:/

function toTlsOptions(
  hostname: string,
  {
    caCerts,
    alpnProtocols,
    unsafelyDisableHostnameVerification,
  }: Pick<
    Deno.ConnectTlsOptions,
    "caCerts" | "alpnProtocols" | "unsafelyDisableHostnameVerification"
  >,
): ConnectionOptions {
  return {
    ...(!address.test(hostname) && { servername: hostname }),
    ...(caCerts && caCerts.length > 0 && { ca: caCerts }),
    ...(alpnProtocols && { ALPNProtocols: [...alpnProtocols] }),
    ...(unsafelyDisableHostnameVerification && { checkServerIdentity: () => undefined }),
  }
}

function established(socket: TLSSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once("error", reject)
    socket.once("secureConnect", () => {
      socket.off("error", reject)
      resolve()
    })
  })
}

/** A TLS socket of Node with the methods of Deno. */
class TlsConnection implements Deno.TlsConn {
  readonly remoteAddr: Deno.NetAddr
  readonly localAddr = toAddress("127.0.0.1", 0)
  readonly #socket: TLSSocket
  #rest: Buffer | undefined
  #error: Error | undefined
  #readable: ReadableStream<Uint8Array<ArrayBuffer>> | undefined
  #writable: WritableStream<Uint8Array<ArrayBufferLike>> | undefined

  constructor(socket: TLSSocket, remoteAddr: Deno.NetAddr) {
    this.#socket = socket
    this.remoteAddr = remoteAddr
    socket.on("error", (error) => {
      this.#error = error
    })
  }

  async handshake(): Promise<Deno.TlsHandshakeInfo> {
    return { alpnProtocol: this.#socket.alpnProtocol || null }
  }

  async read(into: Uint8Array): Promise<number | null> {
    for (;;) {
      const bytes: Buffer | null = this.#rest ?? this.#socket.read()
      if (bytes !== null) {
        const count = Math.min(bytes.length, into.length)
        into.set(bytes.subarray(0, count))
        this.#rest = count < bytes.length ? bytes.subarray(count) : undefined
        return count
      }
      if (this.#error) throw this.#error
      if (this.#socket.readableEnded || this.#socket.destroyed) return null
      await changed(this.#socket)
    }
  }

  write(bytes: Uint8Array): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#socket.write(bytes, (error) => (error ? reject(error) : resolve(bytes.length)))
    })
  }

  async closeWrite(): Promise<void> {
    this.#socket.end()
  }

  close(): void {
    this.#socket.destroy()
  }

  ref(): void {
    this.#socket.ref()
  }

  unref(): void {
    this.#socket.unref()
  }

  setNoDelay(): void {}

  setKeepAlive(): void {}

  get readable(): ReadableStream<Uint8Array<ArrayBuffer>> {
    this.#readable ??= new ReadableStream({
      pull: async (controller) => {
        const bytes = new Uint8Array(readBytes)
        const count = await this.read(bytes)
        if (count === null) controller.close()
        else controller.enqueue(bytes.subarray(0, count))
      },
      cancel: () => this.close(),
    })
    return this.#readable
  }

  get writable(): WritableStream<Uint8Array<ArrayBufferLike>> {
    this.#writable ??= new WritableStream({
      write: async (bytes) => void (await this.write(bytes)),
      close: () => this.closeWrite(),
      abort: () => this.close(),
    })
    return this.#writable
  }

  [Symbol.dispose](): void {
    this.close()
  }
}

/** Waits until there is something to read, or nothing will be. */
function changed(socket: TLSSocket): Promise<void> {
  return new Promise((resolve) => {
    const events = ["readable", "end", "close", "error"]
    const onChange = () => {
      for (const event of events) socket.off(event, onChange)
      resolve()
    }
    for (const event of events) socket.on(event, onChange)
  })
}
