import type { PackageCase } from "../package-case.ts"

/** Mail, message queues and remote shells. */
export const messages: readonly PackageCase[] = [
  {
    code: `import nodemailer from "npm:nodemailer@10.4.0"
export default async ({ smtp: [host, port], ca, http }) => {
  const subject = "Hello " + crypto.randomUUID()
  const transport = nodemailer.createTransport({ host, port, requireTLS: true, tls: { ca } })
  const { accepted } = await transport.sendMail({ from: "ada@example.com", to: "bob@example.com", subject, text: "Hi" })
  return [accepted, (await (await fetch(http + "/mails")).json()).includes(subject)]
}`,
    returns: [["bob@example.com"], true],
    isInTests: true,
  },
  {
    code: `import PostalMime from "npm:postal-mime@4.0.0"
export default async () => {
  const mail = await PostalMime.parse("From: Ada <ada@example.com>\\r\\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\\r\\n\\r\\nHi\\r\\n")
  return [mail.from.address, mail.subject, mail.text.trim()]
}`,
    returns: ["ada@example.com", "Grüße", "Hi"],
  },
  {
    code: `import { ImapFlow } from "npm:imapflow@2.1.2"
export default async ({ smtp: [host, port] }) => {
  // The server is one of SMTP: the client must notice that its greeting is not that of IMAP.
  const client = new ImapFlow({ host, port, secure: false, auth: { user: "a", pass: "b" }, logger: false, greetingTimeout: 1000 })
  client.on("error", () => {})
  return client.connect().then(() => "connected", (error) => typeof error.message)
}`,
    returns: "string",
  },
  {
    code: `import mqtt from "npm:mqtt@5.16.0"
export default async ({ mosquitto }) => {
  const client = await mqtt.connectAsync(mosquitto)
  await client.subscribeAsync("compat/a")
  const received = new Promise((resolve) => client.on("message", (topic, payload) => resolve([topic, String(payload)])))
  await client.publishAsync("compat/a", "hi")
  const message = await received
  await client.endAsync()
  return message
}`,
    returns: ["compat/a", "hi"],
    needs: ["mosquitto"],
  },
  {
    code: `import { connect, StringCodec } from "npm:nats@2.29.3"
export default async ({ nats }) => {
  const connection = await connect({ servers: nats })
  const codec = StringCodec()
  connection.subscribe("compat", { callback: (_, message) => message.respond(codec.encode("pong")) })
  const { data } = await connection.request("compat", codec.encode("ping"), { timeout: 2000 })
  await connection.close()
  return codec.decode(data)
}`,
    returns: "pong",
    needs: ["nats"],
  },
  {
    code: `import amqp from "npm:amqplib@2.3.1"
export default ({ tcp: [hostname, port] }) =>
  // The server sends back what it receives, which is not the protocol of AMQP.
  amqp.connect({ hostname, port }).then(() => "connected", (error) => error.message)`,
    returns: /frame|Expected|heartbeat|closed|header/i,
  },
  {
    code: `import { Kafka, logLevel } from "npm:kafkajs@2.2.4"
export default async ({ tcp: [host, port] }) => {
  // The server sends back what it receives, which is not the protocol of Kafka.
  const kafka = new Kafka({ brokers: [host + ":" + port], logLevel: logLevel.NOTHING, retry: { retries: 0 }, connectionTimeout: 1000, requestTimeout: 1000 })
  return kafka.admin().connect().then(() => "connected", (error) => error.name)
}`,
    returns: /^Kafka/,
  },
  {
    code: `import ssh2 from "npm:ssh2@1.17.0"
export default ({ tcp: [host, port] }) => new Promise((resolve) => {
  const client = new ssh2.Client()
  client.on("error", (error) => resolve(error.level))
  client.on("ready", () => resolve("connected"))
  // The server sends back the client's own greeting, which is a valid one, and then its own keys.
  client.connect({ host, port, username: "a", password: "b", readyTimeout: 2000 })
})`,
    returns: /handshake|protocol|client-timeout/,
  },
]
