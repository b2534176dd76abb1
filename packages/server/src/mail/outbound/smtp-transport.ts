import { Readable } from "node:stream"
import { WorkerPool, WorkerPoolError } from "@hamlet/kit"
import type SMTPConnection from "nodemailer/lib/smtp-connection"
import type {
  MailTransport,
  OutgoingMessage,
  TransportOutcome,
} from "../../domain/mail/outbound/deliver-email.ts"
import { type CompiledMessage, compileMessage, type MessageIdentity } from "./compile-message.ts"
import { type SmtpError, toTransportOutcome } from "./smtp-outcome.ts"

/** The operator's mail server. */
export interface SmtpServer {
  readonly host: string
  readonly port: number
  /** TLS from the first byte, usually on port 465. */
  readonly isSecure: boolean
  /** Whether the connection is upgraded to TLS, if it is not TLS from the first byte. */
  readonly startTls: "required" | "if-offered" | "never"
  readonly login: { readonly user: string; readonly password: string } | undefined
  /** Additional certificate authorities, in PEM. */
  readonly ca: string | undefined
}

/** How long a mail server may take. */
const defaults = {
  connectMsMax: 20_000,
  idleMsMax: 60_000,
  /** For one message. The claim of the message must last longer. */
  sendMsMax: 180_000,
}

export type SmtpLimits = Readonly<typeof defaults>

/** Hands messages to a mail server, each over a connection of its own. */
export function createSmtpTransport(
  server: SmtpServer,
  identity: MessageIdentity,
  onError: (error: unknown) => void,
  limits: SmtpLimits = defaults,
): MailTransport {
  const compiler = new MessageCompiler(identity)
  return {
    async send(message, signal) {
      const compiled = await compiler.compile(message).catch((error: unknown) => error)
      if (!isCompiled(compiled)) {
        signal.throwIfAborted()
        onError(compiled)
        return toNotCompiled(compiled)
      }
      const { bytes, sender } = compiled
      const envelope = { from: sender, to: [...message.recipients], size: bytes.length }
      return withConnection(server, identity.domain, limits, signal, (connection) =>
        send(connection, envelope, bytes),
      )
    },
    stop: () => compiler.stop(),
  }
}

/** Connects and signs in, without a message. Throws when that is not possible. */
export async function checkSmtpServer(
  server: SmtpServer,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  const outcome = await withConnection(server, name, defaults, signal, async () => nothingSent)
  if (outcome.kind === "failed") throw new Error(outcome.cause)
}

function isCompiled(compiled: unknown): compiled is CompiledMessage {
  return compiled instanceof Object && "bytes" in compiled
}

/** No further attempt if it would fail in the same way. */
function toNotCompiled(error: unknown): TransportOutcome {
  const isBusy = error instanceof WorkerPoolError && error.reason !== "failed"
  return {
    kind: "failed",
    error: "the server could not write the message",
    cause: error instanceof Error ? error.message : String(error),
    isPermanent: !isBusy,
  }
}

const nothingSent: TransportOutcome = { kind: "sent", rejected: [] }

async function withConnection(
  server: SmtpServer,
  name: string,
  limits: SmtpLimits,
  signal: AbortSignal,
  use: (connection: SMTPConnection) => Promise<TransportOutcome>,
): Promise<TransportOutcome> {
  // The library is large, and most servers send no mail.
  const { default: SMTPConnection } = await import("nodemailer/lib/smtp-connection")
  signal.throwIfAborted()
  const connection = new SMTPConnection(toOptions(server, name, limits))
  const end = new AbortController()
  const timer = setTimeout(
    () => end.abort(toError("ETIMEDOUT", `it took longer than ${limits.sendMsMax / 1000} s`)),
    limits.sendMsMax,
  )
  const stop = AbortSignal.any([signal, end.signal])
  const failed = new Promise<never>((_, reject) => {
    connection.on("error", reject)
    stop.addEventListener("abort", () => reject(stop.reason), { once: true })
  })
  // Its failure is also reported by what is awaited below.
  failed.catch(() => {})
  try {
    await Promise.race([open(connection, server), failed])
    const outcome = await Promise.race([use(connection), failed])
    connection.quit()
    return outcome
  } catch (error) {
    connection.close()
    signal.throwIfAborted()
    return toTransportOutcome(error as SmtpError)
  } finally {
    clearTimeout(timer)
  }
}

async function open(connection: SMTPConnection, { login }: SmtpServer): Promise<void> {
  await new Promise<void>((resolve, reject) =>
    connection.connect((error) => (error ? reject(error) : resolve())),
  )
  if (!login) return
  await new Promise<void>((resolve, reject) =>
    connection.login({ credentials: { user: login.user, pass: login.password } }, (error) =>
      error ? reject(error) : resolve(),
    ),
  )
}

/** Some recipients may be refused while the others get the message. */
async function send(
  connection: SMTPConnection,
  envelope: { readonly from: string; readonly to: string[]; readonly size: number },
  bytes: Uint8Array,
): Promise<TransportOutcome> {
  const info = await new Promise<{ rejectedErrors?: SmtpError[] | undefined }>((resolve, reject) =>
    connection.send(envelope, Readable.from(inPieces(bytes)), (error, sent) =>
      error ? reject(error) : resolve(sent),
    ),
  )
  return toTransportOutcome({ rejectedErrors: info.rejectedErrors ?? [] })
}

/** Nodemailer looks at every byte: in pieces, so that other requests are served in between. */
function* inPieces(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
}

const pieceBytes = 65_536

function toOptions(server: SmtpServer, name: string, limits: SmtpLimits) {
  return {
    host: server.host,
    port: server.port,
    secure: server.isSecure,
    requireTLS: server.startTls === "required",
    ignoreTLS: server.startTls === "never",
    // How this server introduces itself.
    name,
    connectionTimeout: limits.connectMsMax,
    greetingTimeout: limits.connectMsMax,
    socketTimeout: limits.idleMsMax,
    dnsTimeout: limits.connectMsMax,
    ...(server.ca !== undefined && { tls: { ca: server.ca } }),
  }
}

function toError(code: string, message: string): SmtpError {
  return Object.assign(new Error(message), { code })
}

const limits = {
  /**
   * A message with content up to this size is written on the main thread, in about a millisecond.
   * The worst are file names that are not ASCII: 20 of them in 8 kB took 50 ms.
   */
  inlineBytesMax: 4_096,
  workersMax: 2,
  /** More than are sent at the same time. */
  waitingMax: 64,
  compileMsMax: 60_000,
}

/** Writes messages; large ones on threads, because 20 MB take a fifth of a second. */
class MessageCompiler {
  readonly #identity: MessageIdentity
  readonly #pool: WorkerPool<OutgoingMessage, CompiledMessage>

  constructor(identity: MessageIdentity) {
    this.#identity = identity
    this.#pool = new WorkerPool({
      script: new URL("./compile-thread.ts", import.meta.url),
      workerData: identity,
      workersMax: limits.workersMax,
      waitingMax: limits.waitingMax,
      jobMsMax: limits.compileMsMax,
    })
  }

  /** Rejects with a WorkerPoolError if no thread can do it, and with another error otherwise. */
  compile(message: OutgoingMessage): Promise<CompiledMessage> {
    return message.content.length <= limits.inlineBytesMax
      ? compileMessage(this.#identity, message)
      : this.#pool.run("", message)
  }

  stop(): Promise<void> {
    return this.#pool.stop()
  }
}
