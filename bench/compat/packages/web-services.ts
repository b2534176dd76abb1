import type { PackageCase } from "../package-case.ts"

/** Clients of web services. The server responds with the request it received. */
export const webServices: readonly PackageCase[] = [
  {
    code: `import { GetObjectCommand, S3Client } from "npm:@aws-sdk/client-s3@3.1164.0"
export default async ({ http }) => {
  const client = new S3Client({ endpoint: http, region: "x", forcePathStyle: true, credentials: { accessKeyId: "a", secretAccessKey: "b" } })
  const { Body } = await client.send(new GetObjectCommand({ Bucket: "plays", Key: "hamlet.txt" }))
  const { path, headers } = JSON.parse(await Body.transformToString())
  return [path, headers.authorization.startsWith("AWS4-HMAC-SHA256 Credential=a/")]
}`,
    returns: ["/plays/hamlet.txt", true],
    isInTests: true,
  },
  {
    code: `import { Storage } from "npm:@google-cloud/storage@8.4.0"
export default async ({ http }) => {
  const storage = new Storage({ apiEndpoint: http, projectId: "p", token: "t", useAuthWithCustomEndpoint: false })
  const [metadata] = await storage.bucket("plays").getMetadata()
  return [metadata.method, metadata.path]
}`,
    returns: ["GET", "/storage/v1/b/plays"],
  },
  {
    code: `import { google } from "npm:googleapis@188.0.0"
export default async ({ http }) => {
  const { data } = await google.calendar({ version: "v3", rootUrl: http + "/" }).events.list({ calendarId: "primary", auth: "key" })
  return [data.method, data.path]
}`,
    returns: ["GET", "/calendar/v3/calendars/primary/events"],
  },
  {
    code: `import { JWT } from "npm:google-auth-library@11.3.4"
import { generateKeyPairSync } from "node:crypto"
export default async () => {
  const key = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ type: "pkcs8", format: "pem" })
  const client = new JWT({ email: "a@example.com", key, scopes: ["x"], useJWTAccessWithScope: true })
  client.useJWTAccessWithScope = true
  return (await client.getRequestHeaders("https://x.example")).get("authorization").startsWith("Bearer ey")
}`,
    returns: true,
  },
  {
    code: `import Stripe from "npm:stripe@23.1.0"
export default async ({ http }) => {
  const { hostname: host, port } = new URL(http)
  const stripe = new Stripe("sk_test_x", { host, port, protocol: "http", telemetry: false })
  const { path, body } = await stripe.customers.create({ email: "ada@example.com" })
  return [path, body]
}`,
    returns: ["/v1/customers", "email=ada%40example.com"],
  },
  {
    code: `import twilio from "npm:twilio@6.2.0"
export default async ({ http }) => {
  const client = twilio("AC" + "0".repeat(32), "token")
  client.api.baseUrl = http
  const message = await client.messages.create({ to: "+1", from: "+2", body: "Hi" })
  return message.constructor.name
}`,
    returns: "MessageInstance",
  },
  {
    code: `import sendgrid from "npm:@sendgrid/mail@8.1.6"
export default async ({ http }) => {
  sendgrid.setApiKey("SG.x")
  sendgrid.client.setDefaultRequest("baseUrl", http)
  const [{ body }] = await sendgrid.send({ to: "bob@example.com", from: "ada@example.com", subject: "Hi", text: "Hi" })
  return [body.path, body.body.subject]
}`,
    returns: ["/v3/mail/send", "Hi"],
  },
  {
    code: `import { Resend } from "npm:resend@6.37.0"
export default async ({ http }) => {
  const { data } = await new Resend("re_x", { baseUrl: http }).emails.send({ from: "a@example.com", to: "b@example.com", subject: "Hi", text: "Hi" })
  return [data.path, data.body.subject]
}`,
    returns: ["/emails", "Hi"],
  },
  {
    code: `import { Octokit } from "npm:@octokit/rest@22.0.1"
export default async ({ http }) => (await new Octokit({ baseUrl: http, auth: "t" }).repos.get({ owner: "ada", repo: "x" })).data.path`,
    returns: "/repos/ada/x",
  },
  {
    code: `import { REST } from "npm:@discordjs/rest@2.6.3"
export default async ({ http }) => {
  const data = await new REST({ api: http }).setToken("t").post("/channels/1/messages", { body: { content: "Hi" } })
  return [data.path, data.body]
}`,
    returns: ["/v10/channels/1/messages", { content: "Hi" }],
  },
  {
    code: `import { EmbedBuilder, SlashCommandBuilder } from "npm:discord.js@14.27.0"
export default () => [new EmbedBuilder().setTitle("Hi").toJSON().title, new SlashCommandBuilder().setName("a").setDescription("b").toJSON().name]`,
    returns: ["Hi", "a"],
  },
  {
    code: `import { Telegraf } from "npm:telegraf@4.16.3"
export default async ({ http }) => {
  const bot = new Telegraf("1:t", { telegram: { apiRoot: http } })
  return (await bot.telegram.sendMessage(1, "Hi")).hello
}`,
    returns: "world",
  },
  {
    code: `import { Bot } from "npm:grammy@1.46.0"
export default async ({ http }) => (await new Bot("1:t", { client: { apiRoot: http } }).api.sendMessage(1, "Hi")).hello`,
    returns: "world",
  },
  {
    code: `import { WebClient } from "npm:@slack/web-api@8.2.0"
export default async ({ http }) => {
  const { path, body } = await new WebClient("t", { slackApiUrl: http + "/api/" }).chat.postMessage({ channel: "c", text: "Hi" })
  return [path, body]
}`,
    returns: ["/api/chat.postMessage", "channel=c&text=Hi"],
  },
  {
    code: `import { Client } from "npm:@notionhq/client@5.26.0"
export default async ({ http }) => (await new Client({ auth: "t", baseUrl: http }).pages.retrieve({ page_id: "p" })).path`,
    returns: "/v1/pages/p",
  },
  {
    code: `import Airtable from "npm:airtable@0.12.2"
export default async ({ http }) => {
  const base = new Airtable({ apiKey: "k", endpointUrl: http }).base("b")
  return (await base("Plays").find("rec1")).id
}`,
    returns: "rec1",
  },
  {
    code: `import * as Sentry from "npm:@sentry/node@11.11.0"
export default async ({ http }) => {
  Sentry.init({ dsn: http.replace("://", "://key@") + "/1", defaultIntegrations: false })
  return [typeof Sentry.captureException(new Error("x")), await Sentry.flush(2000)]
}`,
    returns: ["string", true],
  },
]
