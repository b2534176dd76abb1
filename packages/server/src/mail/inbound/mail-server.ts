import {
  Counter,
  createTimeSlice,
  findIdlePlace,
  type SharedRates,
  TokenBucket,
  TokenBuckets,
} from "@hamlet/kit"
import type {
  SMTPServer,
  SMTPServerAddress,
  SMTPServerDataStream,
  SMTPServerSession,
} from "smtp-server"
import type { MailReader } from "../../domain/mail/inbound/mail.ts"
import { isOfDomain, parseMailAddress } from "../../domain/mail/inbound/mail-address.ts"
import type { Mailbox } from "../../domain/mail/inbound/receive-mail.ts"
import { toClientKey } from "../../shared/system/client-key.ts"
import { Certificate, type CertificateFiles } from "./certificate.ts"
import { MessageBudget, receiveMessage, TooCostly } from "./message-buffer.ts"
import { isExpected, SmtpReply, toReply } from "./replies.ts"
import { type SmtpTimes, smtpLimits } from "./smtp-limits.ts"
import { isHidden, SmtpSession } from "./smtp-session.ts"

/** The settings of the server. */
export interface MailServerOptions {
  readonly host: string
  /** 0 for any free port. */
  readonly port: number
  readonly domain: string
  /** The name with which it introduces itself. */
  readonly name: string
  readonly messageBytesMax: number
  readonly perAddressPerMinute: number | undefined
  readonly certificate: CertificateFiles | undefined
  readonly times?: SmtpTimes
}

/** What the server works with. */
export interface MailServerParts {
  readonly mailbox: Mailbox
  readonly mailReader: MailReader
  /** The messages of each client address, on all nodes. */
  readonly messageRates: Pick<SharedRates, "take">
  logMail(fields: MailLogFields): void
  onError(error: unknown): void
  now(): number
}

/** One line of the log for each message. It names no mail addresses. */
export interface MailLogFields {
  readonly address: string
  readonly code: number
  readonly reply: string
  readonly bytes: number
  readonly recipients: number
  readonly durationMs: number
}

/** For the metrics. */
export interface MailStats {
  readonly connections: number
  readonly messages: ReturnType<Counter<number>["list"]>
  readonly bytes: number
}

type Callback = (error?: Error | null) => void

/**
 * Receives mail over SMTP. It accepts mail for its own domain only. It replies 250 to a message when
 * the message and its runs are on disk, and to nothing else.
 */
export class MailServer {
  readonly #parts: MailServerParts
  readonly #options: MailServerOptions
  readonly #times: SmtpTimes
  /** Undefined until it listens. */
  #smtp: SMTPServer | undefined
  readonly #certificate: Certificate | undefined
  readonly #sessions = new Map<string, SmtpSession>()
  readonly #timers = new Map<string, Timer>()
  readonly #budget: MessageBudget
  readonly #pause = createTimeSlice()
  readonly #connectionRates: TokenBuckets
  readonly #messages = new Counter<number>()
  #bytes = 0
  #isStopping = false
  #stopped: Promise<void> | undefined

  constructor(parts: MailServerParts, options: MailServerOptions) {
    this.#parts = parts
    this.#options = options
    this.#times = options.times ?? smtpLimits
    const { messagesAtOnceMax, bytesAtOnceMin } = smtpLimits
    const bytesMax = Math.max(messagesAtOnceMax * options.messageBytesMax, bytesAtOnceMin)
    this.#budget = new MessageBudget(bytesMax, bytesMax / 2)
    this.#certificate = options.certificate && new Certificate(options.certificate)
    this.#connectionRates = new TokenBuckets(60_000, parts.now, TokenBucket)
  }

  get stats(): MailStats {
    return {
      connections: this.#sessions.size,
      messages: this.#messages.list(),
      bytes: this.#bytes,
    }
  }

  /** Resolves with the port. Rejects with the error of the socket. */
  async listen(): Promise<number> {
    const { host, port } = this.#options
    // The library is large, and most servers receive no mail.
    const smtp = this.#createServer(await import("smtp-server"))
    if (this.#isStopping) throw new Error("the server is stopping")
    this.#smtp = smtp
    return await new Promise((resolve, reject) => {
      const { server } = smtp
      server.once("error", reject)
      smtp.listen(port, host, () => {
        server.off("error", reject)
        const address = server.address()
        resolve(typeof address === "object" && address !== null ? address.port : port)
      })
    })
  }

  /** Messages that are being received get some time; other clients are disconnected at once. */
  stop(): Promise<void> {
    this.#isStopping = true
    this.#stopped ??= new Promise((resolve) => (this.#smtp ? this.#smtp.close(resolve) : resolve()))
    for (const [id, session] of this.#sessions) if (!session.isReceiving) this.#disconnect(id)
    return this.#stopped
  }

  #createServer(library: typeof import("smtp-server")): SMTPServer {
    const { name, messageBytesMax } = this.#options
    const server = new library.SMTPServer({
      name,
      logger: false,
      disableReverseLookup: true,
      // Enhanced status codes are part of the replies.
      hideENHANCEDSTATUSCODES: true,
      disabledCommands: this.#certificate ? ["AUTH"] : ["AUTH", "STARTTLS"],
      ...this.#certificate?.read(),
      size: messageBytesMax,
      maxClients: smtpLimits.connectionsMax + smtpLimits.sparesMax,
      maxRecipients: smtpLimits.recipientsMax,
      maxCommandLength: smtpLimits.commandBytesMax,
      socketTimeout: this.#times.idleMsMax,
      closeTimeout: smtpLimits.stopMsMax,
      onConnect: (session, callback) => this.#run(session, callback, () => this.#open(session)),
      onMailFrom: (_address, session, callback) =>
        this.#run(session, callback, () => this.#beginMessage(session)),
      onRcptTo: (address, session, callback) =>
        this.#run(session, callback, () => this.#addRecipient(address, session)),
      onData: (stream, session, callback) => void this.#receive(stream, session, callback),
      onClose: (session) => this.#forget(session.id),
    })
    // Errors of single connections are ignored: a client breaks off, or fails to set up TLS.
    server.on("error", () => {})
    return server
  }

  /** Calls back when the work is done, with the reply if it failed. */
  #run(session: SMTPServerSession, callback: Callback, work: () => void | Promise<void>): void {
    void (async () => {
      try {
        const active = this.#sessions.get(session.id)
        if (active) active.activeMs = this.#parts.now()
        // A client may send thousands of commands at once, which a fast database answers at once.
        await this.#pause()
        await work()
        callback()
      } catch (error) {
        if (!isExpected(error)) this.#parts.onError(error)
        const reply = toReply(error)
        callback(this.#sessions.get(session.id)?.countRefusal(reply) ?? reply)
      }
    })()
  }

  #open({ id, remoteAddress }: SMTPServerSession): void {
    if (this.#isStopping) throw new SmtpReply(421, "4.3.2 The server is stopping")
    const address = toClientKey(remoteAddress)
    const others = this.#sessions.values().filter((other) => other.address === address)
    const { connectionsPerAddressMax, connectionsPerAddressPerMinute } = smtpLimits
    if (others.toArray().length >= connectionsPerAddressMax)
      throw new SmtpReply(421, "4.7.0 Too many connections from your address")
    if (this.#connectionRates.take(address, connectionsPerAddressPerMinute) > 0)
      throw new SmtpReply(421, "4.7.0 Too many connections from your address; try again later")
    if (this.#sessions.size >= smtpLimits.connectionsMax) this.#makeRoom(address)
    const renewed = this.#certificate?.readIfChanged()
    if (renewed) this.#smtp?.updateSecureContext(renewed)
    this.#sessions.set(id, new SmtpSession(address, this.#parts.now()))
    this.#disconnectAfter(id, this.#times.connectionMsMax)
  }

  /** Closes an idle connection for one from this address, or throws if none has to give way. */
  #makeRoom(address: string): void {
    const idle = findIdlePlace(this.#sessions, address)
    if (idle === undefined) throw new SmtpReply(421, "4.3.2 The server has too many connections")
    this.#disconnect(idle, "4.3.2 Another client needs the place")
    this.#forget(idle)
  }

  async #beginMessage({ id }: SMTPServerSession): Promise<void> {
    const session = this.#get(id)
    session.beginMessage()
    const { perAddressPerMinute } = this.#options
    if (perAddressPerMinute === undefined) return
    if ((await this.#parts.messageRates.take(session.address, perAddressPerMinute)) > 0)
      throw new SmtpReply(452, "4.7.28 Too many messages from your address; try again later")
  }

  async #addRecipient({ address }: SMTPServerAddress, { id }: SMTPServerSession): Promise<void> {
    const { domain } = this.#options
    if (!isOfDomain(address, domain))
      throw new SmtpReply(550, "5.7.1 This server only accepts mail for its own vals")
    const target = parseMailAddress(address, domain)
    if (!target) throw new SmtpReply(550, "5.1.1 No val can have this address")
    if (this.#get(id).hasRecipient(address)) return
    const val = await this.#parts.mailbox.findVal(target)
    const session = this.#get(id)
    session.assertRecipient(address, val)
    // A sender must not learn which private vals there are.
    if (val && !isHidden(val)) await this.#parts.mailbox.assertRoom(val)
    session.addRecipient(address, val)
  }

  async #receive(
    stream: SMTPServerDataStream,
    { id, remoteAddress, hostNameAppearsAs, envelope }: SMTPServerSession,
    callback: (error?: Error | null, message?: string) => void,
  ): Promise<void> {
    const startedMs = performance.now()
    const session = this.#sessions.get(id)
    if (!session) {
      // The client has gone between its command and this call.
      stream.resume()
      callback(new SmtpReply(421, "4.3.2 The connection is closed"))
      return
    }
    session.isReceiving = true
    this.#disconnectAfter(id, this.#times.messageMsMax)
    let bytes = 0
    const end = (code: number, reply: string) => {
      session.isReceiving = false
      session.activeMs = this.#parts.now()
      this.#disconnectAfter(id, this.#times.connectionMsMax)
      this.#messages.increment(code)
      this.#bytes += bytes
      this.#parts.logMail({
        address: remoteAddress,
        code,
        reply,
        bytes,
        recipients: session.recipients.length,
        durationMs: performance.now() - startedMs,
      })
    }
    try {
      const message = await receiveMessage(stream, {
        client: session.address,
        bytesMax: this.#options.messageBytesMax,
        budget: this.#budget,
      })
      bytes = message.bytes
      try {
        const mail = await this.#parts.mailReader.read(message.pieces, session.address, {
          address: remoteAddress,
          helo: hostNameAppearsAs,
          mailFrom: envelope.mailFrom ? envelope.mailFrom.address : "",
        })
        message.resize(mail.content.length)
        const runIds = await this.#parts.mailbox.receive(mail, session.recipients)
        const text = runIds.length > 0 ? `run ${runIds.join(", ")}` : "it had come before"
        end(250, text)
        callback(null, `2.6.0 Message accepted: ${text}`)
      } finally {
        message.release()
      }
    } catch (error) {
      // A client that broke off gets no reply.
      if (!isExpected(error) && !stream.destroyed) this.#parts.onError(error)
      const reply = session.countRefusal(toReply(error))
      end(reply.responseCode, reply.message)
      callback(reply)
      if (error instanceof TooCostly) this.#close(id)
    }
    if (this.#isStopping) this.#disconnect(id)
  }

  #get(id: string): SmtpSession {
    const session = this.#sessions.get(id)
    if (!session) throw new SmtpReply(421, "4.3.2 The connection is closed")
    return session
  }

  /** Replaces the deadline of the connection. */
  #disconnectAfter(id: string, ms: number): void {
    clearTimeout(this.#timers.get(id))
    if (!this.#sessions.has(id)) return
    const timer = setTimeout(() => this.#disconnect(id), ms)
    timer.unref()
    this.#timers.set(id, timer)
  }

  #disconnect(id: string, reason = "4.4.2 Too slow"): void {
    for (const connection of this.#smtp?.connections ?? [])
      if (connection.id === id)
        connection.send(421, this.#isStopping ? "4.3.2 The server is stopping" : reason)
  }

  #close(id: string): void {
    for (const connection of this.#smtp?.connections ?? [])
      if (connection.id === id) connection.close()
  }

  #forget(id: string): void {
    clearTimeout(this.#timers.get(id))
    this.#timers.delete(id)
    this.#sessions.delete(id)
  }
}
