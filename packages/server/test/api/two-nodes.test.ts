import { expect, test } from "bun:test"
import { waitUntil } from "@hamlet/kit/testing"
import {
  expectStatus,
  openApi,
  type TestApi,
  type TestResponse,
  testBaseUrl,
} from "../support/api.ts"
import { describeEachDatabase, type OpenDatabase } from "../support/databases.ts"
import { startMailSink } from "../support/fakes/mail-sink.ts"

const hang = 'export default async () => { console.log("begun"); await new Promise(() => {}) }'

describeEachDatabase("two servers on one database", (open) => {
  /**
   * Two servers, the second of which leaves the database to the first. No run that hangs ends by
   * itself.
   */
  async function openTwo(
    env: Record<string, string> = { HAMLET_RUN_SECONDS_MAX: "3600" },
  ): Promise<{ one: TestApi; two: TestApi; close(): Promise<void> }> {
    const database = await open()
    const shared: OpenDatabase = async () => ({ ...database, close: async () => {} })
    const [one, two] = [await openApi(shared, env), await openApi(shared, env)]
    const close = async () => {
      await two.close()
      await one.close()
    }
    return { one, two, close }
  }

  /** The run, once it is over. */
  const waitForEnd = async (api: TestApi, id: string, as: string) => {
    const read = async () => (await api.call("GET", `/v1/runs/${id}`, { as })).json
    await waitUntil(async () => (await read()).runEndAt !== null, { what: "its end", seen: read })
    return read()
  }

  /** Starts a run on this server: unlike a queued run, the other server cannot take it. */
  async function startHanging(api: TestApi) {
    const { token } = await api.addUser(`user${crypto.randomUUID().slice(0, 8)}`)
    const val = expectStatus(
      await api.call("POST", "/v1/vals", { as: token, body: { code: hang } }),
      200,
    ).json
    const response = api.call("POST", `/v1/vals/${val.id}/runs`, { as: token })
    let ended: TestResponse | undefined
    void response.then((answer) => {
      ended = answer
    })
    let id = ""
    await waitUntil(async () => {
      // The run never returns: a response says why it was not started.
      if (ended) throw new Error(`the run does not hang: ${ended.status} ${ended.text}`)
      const [run] = (await api.call("GET", "/v1/me/runs", { as: token })).json.data
      if (run === undefined) return false
      id = run.id
      return (await api.call("GET", `/v1/runs/${id}/logs`, { as: token })).json.data.length === 1
    })
    return { id, token, response }
  }

  test("send each email once", async () => {
    const sink = await startMailSink()
    const env = { HAMLET_SMTP_URL: sink.url, HAMLET_MAIL_DOMAIN: "mail.test" }
    const { one, two, close } = await openTwo(env)
    const users = [await one.addUser("mail_a"), await one.addUser("mail_b")]
    const ids = await Promise.all(
      Array.from({ length: 20 }, async (_, at) => {
        const body = { to: "bob@example.org", text: String(at) }
        const as = users[at % 2]
        const node = at % 3 === 0 ? one : two
        return expectStatus(await node.call("POST", "/v1/email", { as, body }), 202).json.id
      }),
    )
    for (const as of users)
      await waitUntil(async () => {
        const { json } = await two.call("GET", "/v1/me/emails?status=sent", { as })
        return json.data.length === 10
      })
    await close()
    expect(sink.messages.map(({ headers }) => headers.get("message-id")).sort()).toEqual(
      ids.map((id) => `<${id}@mail.test>`).sort(),
    )
    await sink.stop()
  })

  test("cancel and follow each other's runs", async () => {
    const { one, two, close } = await openTwo()
    const { id, token, response: call } = await startHanging(one)
    const response = await two.hamlet.app.request(`${testBaseUrl}/v1/runs/${id}/logs`, {
      headers: { accept: "text/event-stream", authorization: `Bearer ${token}` },
    })
    const text = response.text()
    expect(
      expectStatus(await two.call("POST", `/v1/runs/${id}/cancel`, { as: token }), 200).json,
    ).toEqual({ found: true })
    expect(await waitForEnd(two, id, token)).toMatchObject({ status: "cancelled" })
    expect(await text).toMatch(/"message":"begun"[\s\S]+event: end\ndata: \{"status":"cancelled"/)
    await call
    await close()
  })

  test("do not touch each other's runs, and end their own runs when they stop", async () => {
    const { one, two, close } = await openTwo()
    const [first, second] = [await startHanging(one), await startHanging(two)]
    await two.close()
    expect((await one.call("GET", `/v1/runs/${first.id}`, { as: first.token })).json).toMatchObject(
      { status: "running", error: null },
    )
    const { json } = await one.call("GET", `/v1/runs/${second.id}`, { as: second.token })
    expect(["crashed", "cancelled"]).toContain(json.status)
    expect(json.runEndAt).not.toBeNull()
    await close()
    await Promise.all([first.response, second.response])
  })
})
