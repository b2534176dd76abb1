import { connect, type Socket } from "node:net"

/** A reply of the server: the text of all its lines, each with the code. */
export type Reply = string

const lastCharsMax = 1_000

/** An SMTP client that sends exactly what a test says. */
export class SmtpClient {
  readonly #socket: Socket
  #received = ""
  #isClosed = false
  #wake: (() => void) | undefined

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.setEncoding("latin1")
    socket.on("data", (text: string) => {
      this.#received += text
      this.#wake?.()
    })
    for (const event of ["close", "error", "end"])
      socket.on(event, () => {
        this.#isClosed = true
        this.#wake?.()
      })
  }

  /** Connects and waits for the greeting. */
  static async open(port: number): Promise<SmtpClient> {
    const client = await SmtpClient.connect(port)
    await client.expect("220")
    return client
  }

  /** `localAddress`: one of 127.0.0.0/8, for another client. */
  static connect(port: number, localAddress = "127.0.0.1"): Promise<SmtpClient> {
    return new Promise((resolve, reject) => {
      const options = { port, host: "127.0.0.1", localAddress }
      const socket = connect(options, () => resolve(new SmtpClient(socket)))
      socket.once("error", reject)
    })
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Writes bytes as they are; each character is one byte. */
  write(text: string | Uint8Array): void {
    if (typeof text === "string") this.#socket.write(text, "latin1")
    else this.#socket.write(text)
  }

  /** Sends a line and returns the reply. */
  send(line: string): Promise<Reply> {
    this.write(`${line}\r\n`)
    return this.reply()
  }

  /** The next reply. Rejects when the connection ends before. */
  async reply(): Promise<Reply> {
    for (;;) {
      const found = /^(?:\d{3}-.*\r\n)*\d{3}(?: .*)?\r\n/.exec(this.#received)
      if (found) {
        this.#received = this.#received.slice(found[0].length)
        return found[0].trimEnd()
      }
      if (this.#isClosed) throw new Error(`closed after ${JSON.stringify(this.#received)}`)
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  async expect(code: string): Promise<Reply> {
    const reply = await this.reply()
    if (!reply.startsWith(code)) throw new Error(`expected ${code}: ${reply}`)
    return reply
  }

  /** Says EHLO and begins a message. Fails if a recipient is refused. */
  async begin(from: string, ...to: string[]): Promise<void> {
    this.write(`EHLO client.example.com\r\nMAIL FROM:<${from}>\r\n`)
    for (const one of to) this.write(`RCPT TO:<${one}>\r\n`)
    for (let replies = 2 + to.length; replies > 0; replies -= 1) await this.expect("250")
  }

  /** Sends a message after `begin`, and returns the reply to it. */
  async data(message: string | Uint8Array): Promise<Reply> {
    await this.send("DATA")
    this.write(message)
    this.write("\r\n.\r\n")
    return this.reply()
  }

  /** Waits until the server closes the connection, and returns the last line that it sent. */
  async untilClosed(): Promise<Reply> {
    while (!this.#isClosed) {
      // The replies to many commands would fill the memory.
      this.#received = this.#received.slice(-lastCharsMax)
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    return this.#received.trimEnd().split("\r\n").at(-1) ?? ""
  }

  close(): void {
    this.#socket.destroy()
  }
}
