import { afterAll, beforeAll } from "bun:test"
import { waitUntil } from "@hamlet/kit/testing"
import { createTransport, type SendMailOptions } from "nodemailer"
import { expectStatus, openApi, type TestApi, type TestUser } from "../../support/api.ts"
import { describeSqlite } from "../../support/databases.ts"
import { FakeRunner } from "../../support/fakes/fake-runner.ts"
import { TextNameServer } from "./text-name-server.ts"

export const mailDomain = "vals.example.com"

/** A val that returns its argument, with the texts of its files. */
const echo = `export default async (email) => ({
  ...email,
  attachments: await Promise.all(email.attachments.map(async (file) => [file.name, file.type, await file.text()])),
})`

// biome-ignore lint/suspicious/noExplicitAny: tests read whatever they expect to be there
export type RunView = any

/** A server that receives mail, which the tests of a suite share. */
export interface MailSuite {
  readonly api: TestApi
  readonly port: number
  readonly names: TextNameServer
  /** Adds a user with that address, which is confirmed. */
  addUser(email?: string): Promise<TestUser>
  /** Creates a val of type email that echoes; public unless the fields say otherwise. */
  addVal(owner: TestUser, fields?: object): Promise<{ id: string; name: string; address: string }>
  /** Sends a message with nodemailer. Resolves with the server's reply, also a refusal. */
  send(message: SendMailOptions, options?: object): Promise<string>
  /** Waits until the server has noticed that all clients have gone: it allows few at once. */
  untilAlone(): Promise<unknown>
  /** Waits until the val has so many runs that have ended, and returns them, the latest first. */
  runsOf(owner: TestUser, valId: string, count: number): Promise<readonly RunView[]>
}

/**
 * Defines a suite on SQLite: `mail/stored` has the rows of mails on both databases. `env` are
 * settings of the operator.
 */
export function describeMail(
  title: string,
  define: (suite: MailSuite) => void,
  env: Record<string, string> = {},
): void {
  describeSqlite(title, (open) => {
    const state: Partial<{ api: TestApi; port: number; names: TextNameServer }> = {}
    beforeAll(async () => {
      const names = await TextNameServer.listen()
      const settings = {
        HAMLET_MAIL_DOMAIN: mailDomain,
        HAMLET_SMTP_PORT: "0",
        HAMLET_SMTP_HOST: "127.0.0.1",
        HAMLET_MAIL_DNS: names.address,
        HAMLET_MAIL_MB_MAX: "1",
      }
      const api = await openApi(open, { ...settings, ...env }, { runner: new FakeRunner() })
      Object.assign(state, { names, api, port: await api.hamlet.mailServer?.listen() })
    })
    afterAll(async () => {
      await state.api?.close()
      state.names?.stop()
    })
    define(createSuite(state))
  })
}

let people = 0
let vals = 0

function createSuite(
  state: Partial<{ api: TestApi; port: number; names: TextNameServer }>,
): MailSuite {
  const get = <Key extends keyof typeof state>(key: Key) => {
    const value = state[key]
    if (value === undefined) throw new Error("Cannot use the server: the suite has not begun yet")
    return value as NonNullable<(typeof state)[Key]>
  }
  return {
    get api() {
      return get("api")
    },
    get port() {
      return get("port")
    },
    get names() {
      return get("names")
    },
    async addUser(email) {
      people += 1
      const username = `reader${people}`
      const user = await get("api").addUser(username)
      if (email !== undefined)
        expectStatus(
          await get("api").call("PUT", `/v1/users/${user.id}/email`, {
            as: get("api").admin,
            body: { email },
          }),
          200,
        )
      return user
    },
    async addVal(owner, fields = {}) {
      vals += 1
      const name = `inbox_${vals}`
      const body = { name, code: echo, type: "email", privacy: "public", ...fields }
      const { json } = expectStatus(
        await get("api").call("POST", "/v1/vals", { as: owner, body }),
        200,
      )
      return { id: json.id, name, address: `${owner.username}.${name}@${mailDomain}` }
    },
    async send(message, options = {}) {
      const transport = createTransport({
        host: "127.0.0.1",
        port: get("port"),
        name: "client.example.com",
        ignoreTLS: true,
        ...options,
      })
      try {
        return (await transport.sendMail(message)).response
      } catch (error) {
        const { response } = error as { response?: string }
        if (response === undefined) throw error
        return response
      } finally {
        transport.close()
      }
    },
    untilAlone: () => waitUntil(() => get("api").hamlet.mailServer?.stats.connections === 0),
    async runsOf(owner, valId, count) {
      const list = async () =>
        expectStatus(await get("api").call("GET", `/v1/vals/${valId}/runs`, { as: owner }), 200)
          .json.data as readonly RunView[]
      const runs = await waitUntil(
        async () => {
          const all = await list()
          return all.length >= count && all.every(({ runEndAt }) => runEndAt !== null) && all
        },
        { what: `${count} runs that have ended`, seen: list },
      )
      return Promise.all(
        runs.map(
          async ({ id }) => (await get("api").call("GET", `/v1/runs/${id}`, { as: owner })).json,
        ),
      )
    },
  }
}
