/** A connection on which a test sends any bytes. */
export class RawClient {
  #socket: Bun.Socket<RawClient> | undefined
  #waiting: Uint8Array[] = []
  #changed = Promise.withResolvers<void>()
  /** What was received, as Latin-1, unless `isCounting`. */
  text = ""
  bytes = 0
  sentBytes = 0
  isClosed = false
  /** Whether received bytes are counted only. */
  isCounting = false

  static async open(unix: string): Promise<RawClient> {
    const client = new RawClient()
    // From the beginning: the other side may send something, or close, at once.
    client.#socket = await Bun.connect<RawClient>({ unix, data: client, socket: handlers })
    return client
  }

  send(data: string | Uint8Array): void {
    this.#waiting.push(typeof data === "string" ? Buffer.from(data, "latin1") : data)
    if (this.#waiting.length === 1) this.drain()
  }

  get isFull(): boolean {
    return this.#waiting.length > 0
  }

  pause(): void {
    this.#socket?.pause()
  }

  resume(): void {
    this.#socket?.resume()
  }

  stop(): void {
    this.#socket?.terminate()
  }

  /**
   * Waits for the first response with all of its body, if that has a length or is chunked, or for
   * the end of the connection.
   */
  async responded(): Promise<void> {
    await this.until(() => this.isClosed || isWhole(this.text))
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await this.#changed.promise
  }

  get status(): number {
    return Number(/^HTTP\/1\.1 (\d{3}) /.exec(this.text)?.[1])
  }

  get body(): string {
    return this.text.slice(this.text.indexOf("\r\n\r\n") + 4)
  }

  header(name: string): string | undefined {
    const [head = ""] = this.text.split("\r\n\r\n", 1)
    return new RegExp(`^${name}: (.*)$`, "m").exec(head.replaceAll("\r", ""))?.[1]
  }

  take(bytes: Buffer): void {
    this.bytes += bytes.length
    if (!this.isCounting) this.text += bytes.toString("latin1")
    this.#change()
  }

  closed(): void {
    this.isClosed = true
    this.#change()
  }

  drain(): void {
    for (let bytes = this.#waiting[0]; bytes; bytes = this.#waiting[0]) {
      const count = Math.max(0, this.#socket?.write(bytes) ?? 0)
      this.sentBytes += count
      if (count < bytes.length) {
        this.#waiting[0] = bytes.subarray(count)
        return
      }
      this.#waiting.shift()
    }
    this.#change()
  }

  #change(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers<void>()
  }
}

function isWhole(text: string): boolean {
  const end = text.indexOf("\r\n\r\n")
  if (end < 0) return false
  const head = text.slice(0, end)
  const length = /^content-length: (\d+)\r?$/m.exec(head)?.[1]
  if (/^transfer-encoding: chunked\r?$/m.test(head)) return text.endsWith("0\r\n\r\n")
  return length === undefined || text.length - end - 4 >= Number(length)
}

const handlers: Bun.SocketHandler<RawClient, "buffer"> = {
  binaryType: "buffer",
  open() {},
  data: (socket, bytes) => socket.data.take(bytes),
  drain: (socket) => socket.data.drain(),
  close: (socket) => socket.data.closed(),
  error: (socket) => socket.data.closed(),
}
