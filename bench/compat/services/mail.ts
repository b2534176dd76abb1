import { SMTPServer } from "smtp-server"
import type { Authority } from "./authority.ts"

/** A mail server that accepts each message. */
export interface MailServer {
  readonly port: number
  /** The subjects of the messages that arrived. */
  readonly subjects: string[]
  stop(): void
}

/** Starts a mail server with STARTTLS and without authentication. */
export async function startMailServer({ cert, key }: Authority): Promise<MailServer> {
  const subjects: string[] = []
  const server = new SMTPServer({
    cert,
    key,
    authOptional: true,
    logger: false,
    onData(stream, _session, done) {
      const chunks: Buffer[] = []
      stream.on("data", (chunk: Buffer) => chunks.push(chunk))
      stream.on("end", () => {
        const text = Buffer.concat(chunks).toString()
        subjects.push(/^subject: (.*)$/im.exec(text)?.[1]?.trim() ?? "")
        done()
      })
    },
  })
  // A client that breaks off is not an error of the server.
  server.on("error", () => {})
  const { promise, resolve } = Promise.withResolvers<void>()
  const listener = server.listen(0, "127.0.0.1", resolve)
  await promise
  const address = listener.address()
  if (address === null || typeof address === "string") throw new Error("Cannot find a free port")
  return { port: address.port, subjects, stop: () => server.close(() => {}) }
}
