import type { AddressInfo } from "node:net"
import type { Certificate } from "@hamlet/kit/testing"
import { SMTPServer } from "smtp-server"

/** A message that the sink has accepted. */
export interface SunkMessage {
  readonly sender: string
  readonly recipients: readonly string[]
  readonly text: string
  /** Its headers by name in lower case, unfolded. */
  readonly headers: ReadonlyMap<string, string>
  readonly isSecure: boolean
  readonly user: string | undefined
}

/**
 * How the sink behaves: `busy` closes with 421, `full` refuses the message with 452, `picky` with
 * 554, `drops` closes the connection in the middle of it, `hangs` never answers.
 */
export type SinkMode = "accepts" | "busy" | "full" | "picky" | "drops" | "hangs"

/** A mail server on a port of its own, which keeps what it accepts. */
export interface MailSink {
  readonly port: number
  /** The address for HAMLET_SMTP_URL, without a login. */
  readonly url: string
  readonly messages: SunkMessage[]
  /** Attempts to send a message, accepted or not. */
  attempts: number
  mode: SinkMode
  /** Called with a message that was accepted; the sender is told when it has returned. */
  onMessage?: ((message: SunkMessage) => Promise<void>) | undefined
  stop(): Promise<void>
}

/** What the sink accepts. */
export interface SinkOptions {
  readonly port?: number
  /** With one, it offers STARTTLS, or TLS from the first byte if `isSecure`. */
  readonly certificate?: Certificate
  readonly isSecure?: boolean
  readonly password?: string
}

/**
 * Starts a sink. Recipients whose address begins with `busy` are refused with 450, and those that
 * begin with `gone` with 550, whatever the mode is.
 */
export async function startMailSink(options: SinkOptions = {}): Promise<MailSink> {
  const { certificate, isSecure = false, password } = options
  const server = new SMTPServer({
    ...(certificate && { key: certificate.key, cert: certificate.cert }),
    secure: isSecure,
    authOptional: password === undefined,
    allowInsecureAuth: certificate === undefined,
    disabledCommands: [
      ...(certificate && !isSecure ? [] : ["STARTTLS"]),
      ...(password === undefined ? ["AUTH"] : []),
    ],
    logger: false,
    // Greets at once, without a lookup of the client's name.
    disableReverseLookup: true,
    onConnect(_session, callback) {
      callback(sink.mode === "busy" ? toError(421, "try later") : null)
    },
    onAuth({ username, password: given }, _session, callback) {
      if (given === password) callback(null, { user: username })
      else callback(toError(535, "wrong password"))
    },
    onRcptTo({ address }, _session, callback) {
      if (address.startsWith("busy")) callback(toError(450, "mailbox is busy"))
      else if (address.startsWith("gone")) callback(toError(550, "no such mailbox"))
      else callback(null)
    },
    onData(stream, session, callback) {
      sink.attempts += 1
      const { mode } = sink
      const parts: Uint8Array[] = []
      const connections = (server as unknown as { connections: Set<Connection> }).connections
      stream.on("data", (part: Uint8Array) => {
        parts.push(part)
        if (mode === "drops")
          for (const one of connections) if (one.id === session.id) one._socket.destroy()
      })
      stream.on("end", async () => {
        if (mode === "hangs" || mode === "drops") return
        if (mode === "full") return callback(toError(452, "out of space"))
        if (mode === "picky") return callback(toError(554, "this is spam"))
        const { mailFrom, rcptTo } = session.envelope
        const message = {
          sender: mailFrom ? mailFrom.address : "",
          recipients: rcptTo.map(({ address }) => address),
          isSecure: session.secure,
          user: session.user,
          ...parse(Buffer.concat(parts).toString()),
        }
        sink.messages.push(message)
        await sink.onMessage?.(message)
        callback(null)
      })
    },
  })
  // A client that goes away in the middle is not an error of the sink.
  server.on("error", () => {})
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, "127.0.0.1", resolve))
  const { port } = server.server.address() as AddressInfo
  const sink: MailSink = {
    port,
    url: `smtp://127.0.0.1:${port}`,
    messages: [],
    attempts: 0,
    mode: "accepts",
    stop: () =>
      new Promise((resolve) => {
        const { connections } = server as unknown as { connections: Set<Connection> }
        for (const { _socket } of connections) _socket.destroy()
        server.close(() => resolve())
      }),
  }
  return sink
}

/** A part of smtp-server that is not in its types. */
interface Connection {
  readonly id: string
  readonly _socket: { destroy(): void }
}

function toError(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode })
}

function parse(text: string): Pick<SunkMessage, "text" | "headers"> {
  const head = text.slice(0, text.indexOf("\r\n\r\n")).replaceAll(/\r\n[ \t]+/g, " ")
  const headers = head.split("\r\n").map((line) => {
    const [name = "", ...rest] = line.split(":")
    return [name.toLowerCase(), rest.join(":").trim()] as const
  })
  return { text, headers: new Map(headers) }
}
