import { limits } from "@hamlet/contract"
import { createClient } from "@hamlet/contract/client"
import { sql } from "@hamlet/database"
import { findFreePort } from "@hamlet/kit/testing"
import { createValStore } from "../../src/storage/vals/vals.ts"
import { TextNameServer } from "../mail/support/text-name-server.ts"
import { chosenToken, type ServerFixture } from "../support/server-fixture.ts"
import type { SlowRequest, Stage } from "./door.ts"
import { egressVals } from "./doors/egress.ts"
import { framedVal } from "./doors/framed-pages.ts"
import { slowVals } from "./doors/guest.ts"
import { editedCode } from "./doors/mcp-tools.ts"
import { socketsVal } from "./doors/outside.ts"
import { controlCharacters, recordedCode, recordedVal } from "./doors/responses.ts"
import { mailDomain } from "./doors/smtp.ts"
import { libsqlPath, startHostileServer } from "./hostile-server.ts"

/** The limit of the operator for descriptors of connections of vals. */
export const egressFilesMax = 128

const counts = { largeVals: 100, versions: 50, secrets: 100 }

/** A stage, and the process that is measured. */
export interface OpenStage extends Stage, AsyncDisposable {
  readonly pid: number
}

/** What a suite of its own sets on top. */
interface StageOptions {
  readonly env?: Readonly<Record<string, string>>
  /** Headers of every request. */
  readonly headers?: Readonly<Record<string, string>>
  /** The address at which others reach the server outside, whose own it is given. */
  readonly toOutsideUrl?: (url: string) => Promise<string>
}

/** Starts the server with everything that doors use. */
export async function openStage(
  fixture: ServerFixture,
  { env = {}, headers = {}, toOutsideUrl }: StageOptions = {},
): Promise<OpenStage> {
  const own = startHostileServer()
  const url = (await toOutsideUrl?.(own.url)) ?? own.url
  const outside = { ...own, url, port: Number(new URL(url).port) }
  const names = await TextNameServer.listen()
  const smtpPort = await findFreePort()
  const metricsPort = await findFreePort()
  const settings = {
    HAMLET_RATE_PER_TOKEN: "none",
    HAMLET_RATE_PER_ADDRESS: "none",
    HAMLET_MAIL_DOMAIN: mailDomain,
    HAMLET_SMTP_HOST: "127.0.0.1",
    HAMLET_SMTP_PORT: String(smtpPort),
    HAMLET_METRICS_PORT: String(metricsPort),
    HAMLET_MAIL_DNS: names.address,
    HAMLET_MAIL_PER_ADDRESS: "none",
    HAMLET_MAIL_PER_ACCOUNT: "none",
    HAMLET_EGRESS_ALLOW: `127.0.0.1:${outside.port}`,
    HAMLET_EGRESS_FILES_MAX: String(egressFilesMax),
    HAMLET_OPENAI_URL: outside.url,
    HAMLET_OPENAI_KEY: "sk-freeze-0123456789",
    HAMLET_OIDC_ISSUER: outside.url,
    HAMLET_OIDC_CLIENT_ID: "freeze",
    HAMLET_NPM_REGISTRY: outside.url,
    // With SQLite, users' databases are files, and other doors are about them.
    ...(fixture.url === undefined ? {} : toLibsqlSettings(outside.url + libsqlPath)),
    // The protocol of OTLP whose responses are parsed.
    OTEL_EXPORTER_OTLP_ENDPOINT: outside.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
    ...env,
  }
  const program = new URL("./measured-server.ts", import.meta.url).pathname
  const { hamlet, baseUrl } = await fixture.serve(settings, program)
  const client = createClient({ baseUrl, token: chosenToken })
  const ownHeaders = {
    authorization: `Bearer ${chosenToken}`,
    "content-type": "application/json",
    ...headers,
  }
  const send = createSend(baseUrl, ownHeaders)
  await addData(fixture, client)
  const { id: valId } = await client.getValByName({ username: "ada", val_name: "takesArgs" })
  return {
    client,
    valId,
    smtpPort,
    metricsPort,
    outside,
    send,
    pid: hamlet.pid,
    headers: ownHeaders,
    host: new URL(baseUrl).host,
    run: (name) => send({ method: "POST", path: `/v1/run/ada.${name}`, body: "{}" }),
    async [Symbol.asyncDispose]() {
      hamlet.signal("SIGTERM")
      await hamlet.ended()
      names.stop()
      await own[Symbol.asyncDispose]()
    },
  }
}

function toLibsqlSettings(url: string) {
  return { HAMLET_LIBSQL_URL: url, HAMLET_LIBSQL_ADMIN_URL: url }
}

function createSend(baseUrl: string, headers: Stage["headers"]): Stage["send"] {
  return async ({ method, path, body, headers: more }: SlowRequest) => {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: { ...headers, ...more },
      ...(body === undefined ? {} : { body: body as BodyInit }),
    })
    const text = await response.text()
    if (response.status === 500) throw new Error(`500 ${text.slice(0, 200)}`)
    return text
  }
}

async function addData(fixture: ServerFixture, client: Stage["client"]): Promise<void> {
  await client.putSecret({ name: "FREEZE", value: `${"a".repeat(127)}b` })
  for (let number = 0; number < counts.secrets; number++)
    await client.putSecret({ name: `S${number}`, value: `${"a".repeat(30)}${number}` })
  for (const [name, code] of Object.entries({ ...slowVals, ...egressVals }))
    await client.saveVal({ name, code, type: "script" })
  await client.saveVal({ name: "edited", code: editedCode })
  await client.saveVal({ name: recordedVal, code: recordedCode, type: "script" })
  await client.saveVal({ name: "sockets", code: socketsVal, type: "http", privacy: "public" })
  await client.saveVal({ name: "framed", code: framedVal, type: "http", privacy: "public" })
  const responds = `export default () => new Response("a".repeat(1_000_000))`
  await client.saveVal({ name: "responds", code: responds, type: "http" })
  const inbox = "export default (email) => email.text?.length"
  await client.saveVal({ name: "inbox", code: inbox, type: "email", privacy: "public" })
  await client.putBlob({ key: "k", content: "\n".repeat(1_000_000) })
  await addLargeVals(fixture, (await client.getMe()).id)
}

/**
 * Writes the vals to the database itself: the server would parse each of them. Texts that no search
 * reads in this server come later, with SQL: an index of such long ones takes seconds.
 */
async function addLargeVals(fixture: ServerFixture, ownerId: string): Promise<void> {
  const db = await fixture.connect()
  try {
    const vals = createValStore(db)
    const add = (name: string, code: string) =>
      vals.create(
        {
          id: Bun.randomUUIDv7(),
          ownerId,
          ownerName: "ada",
          name,
          readme: null,
          privacy: "public",
          type: "script",
          source: { code, imports: [] },
        },
        Date.now(),
      )
    const large = `//${controlCharacters(limits.codeCharsMax - 2)}`
    // PostgreSQL searches in a process of its own.
    const isSearchedHere = fixture.url === undefined
    for (let number = 1; number <= counts.largeVals; number++)
      await add(`large${number}`, isSearchedHere ? large : "1")
    const lines = await add("lines", "1")
    for (let version = 2; version <= counts.versions; version++) {
      const source = { code: String(version), imports: [] }
      await vals.change(lines?.id ?? "", { source }, () => {}, Date.now())
    }
    // Line ends take two characters in JSON, and longest to read.
    const lineEnds = "\n".repeat(limits.codeCharsMax - String(counts.versions).length)
    const ofVals = (pattern: string) =>
      sql`branch_id in (select b.id from branches b join vals v on v.id = b.val_id where v.name like ${pattern})`
    await db.write(function* () {
      if (!isSearchedHere) yield sql`update states set content = ${large} where ${ofVals("large%")}`
      yield sql`update states set content = ${lineEnds} || since where ${ofVals("lines")}`
    })
  } finally {
    await db.stop()
  }
}
