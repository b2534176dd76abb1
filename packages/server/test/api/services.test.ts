import { afterAll, afterEach, beforeEach, describe, expect, setSystemTime, test } from "bun:test"
import { waitUntil } from "@hamlet/kit/testing"
import { expectStatus } from "../support/api.ts"
import { openAiKey, startOpenAiService } from "../support/openai-service.ts"
import { type ApiSuite, describeSqliteApi, refusalOf } from "./suite.ts"

const service = startOpenAiService()
afterAll(() => service.stop())

describeSqliteApi("POST /v3/connections", ({ call, sharedUser }) => {
  test("says that the account is not connected", async () => {
    for (const [service, body] of [
      ["slack", { team_id: "T0" }],
      ["google-docs", { email: "ada@hamlet.test" }],
    ] as const) {
      const path = `/v3/connections/${service}/token`
      const missing = await call("POST", path, { as: await sharedUser(), body })
      expect(refusalOf(missing)).toEqual([404, "connection_not_found"])
      expect(missing.json.error).toBe("Not Found")
      const wrong = await call("POST", path, { as: await sharedUser(), body: {} })
      expect(refusalOf(wrong)).toEqual([400, "invalid_request"])
    }
  })
})

describeSqliteApi("POST /v1/email", ({ call, sharedUser }) => {
  test("says that mail is not configured, once the email is sound", async () => {
    const body = {
      to: ["ada@hamlet.test", { email: "bob@hamlet.test", name: "Bob" }],
      cc: "c@hamlet.test",
      from: { email: "me@hamlet.test" },
      replyTo: "d@hamlet.test",
      subject: "Hi",
      text: "é",
      html: "<b>é</b>",
      headers: { "X-Custom": "xxx" },
      attachments: [{ content: btoa("a"), filename: "a.txt", type: "text/plain" }],
    }
    const refused = await call("POST", "/v1/email", { as: await sharedUser(), body })
    expect(refusalOf(refused)).toEqual([501, "mail_unavailable"])
    expect(refused.json.message).toBe(
      "Cannot send the email: mail is not configured on this server: the operator sets HAMLET_SMTP_URL",
    )
  })

  test.each([
    { to: "nobody" },
    { to: [{ name: "Bob" }] },
    { subject: "Hi\r\nBcc: eve@hamlet.test" },
    { headers: { "X-A": "1\nBcc: eve@hamlet.test" } },
    { headers: { "X A": "1" } },
    { attachments: [{ filename: "a" }] },
    { text: 1 },
  ])("refuses %j", async (body) => {
    const refused = await call("POST", "/v1/email", { as: await sharedUser(), body })
    expect(refusalOf(refused)).toEqual([400, "invalid_request"])
  })
})

const path = "/v1/openai/chat/completions"
const ask = (content: string, more: object = {}) => ({
  model: "echo",
  messages: [{ role: "user", content }],
  ...more,
})

describeSqliteApi(
  "POST /v1/openai/chat/completions, without a service,",
  ({ call, sharedUser }) => {
    test("says which settings the operator has to set", async () => {
      const refused = await call("POST", path, { as: await sharedUser(), body: ask("hi") })
      expect(refusalOf(refused)).toEqual([501, "openai_unavailable"])
      expect(refused.json.message).toContain("HAMLET_OPENAI_KEY")
    })
  },
)

const env = { HAMLET_OPENAI_URL: `${service.url}/`, HAMLET_OPENAI_KEY: openAiKey }

describeSqliteApi("POST /v1/openai/chat/completions", defineService, env)

function defineService(suite: ApiSuite): void {
  const { call, sharedUser } = suite
  const send = async (body: unknown) => call("POST", path, { as: await sharedUser(), body })

  test("passes the request to the service, with the key of the operator", async () => {
    const { json, headers } = expectStatus(await send(ask("hé", { temperature: 0 })), 200)
    expect(json.choices[0].message.content).toBe("You said: hé")
    expect(headers.get("content-type")).toBe("application/json")
    expect(service.requests.at(-1)).toEqual({
      authorization: `Bearer ${openAiKey}`,
      path: "/v1/chat/completions",
      body: ask("hé", { temperature: 0 }),
    })
  })

  test("streams what the service streams", async () => {
    const { text, headers } = expectStatus(await send(ask("a b", { stream: true })), 200)
    expect(headers.get("content-type")).toBe("text/event-stream")
    expect([...(text.match(/"content":"[^"]*"/g) ?? [])]).toEqual([
      '"content":"You "',
      '"content":"said: "',
      '"content":"a "',
      '"content":"b"',
    ])
    expect(text).toEndWith("data: [DONE]\n\n")
  })

  test("ends the request to the service when the client goes away", async () => {
    const response = await suite.api.hamlet.app.request(`http://hamlet.test${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${(await sharedUser()).token}` },
      body: JSON.stringify(ask("x", { model: "endless", stream: true })),
    })
    const reader = response.body?.getReader()
    await reader?.read()
    expect(service.open.size).toBe(1)
    await reader?.cancel()
    await waitUntil(() => service.open.size === 0)
  })

  test("ends the request to the service when the client does not wait for the response", async () => {
    const client = new AbortController()
    const pending = suite.api.hamlet.app.request(`http://hamlet.test${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${(await sharedUser()).token}` },
      body: JSON.stringify(ask("x", { model: "silent" })),
      signal: client.signal,
    })
    await waitUntil(() => service.open.size === 1)
    client.abort()
    await waitUntil(() => service.open.size === 0)
    expect((await pending).status).toBe(502)
  })

  test("says why the service refuses a request, without the key", async () => {
    const unknown = await send(ask("x", { model: "gpt-99" }))
    expect(refusalOf(unknown)).toEqual([400, "openai_refused"])
    expect(unknown.json.message).toContain("The model `gpt-99` does not exist")
    const broken = await send("no JSON")
    expect(refusalOf(broken)).toEqual([400, "openai_refused"])
    expect(broken.json.message).toEndWith("the JSON body of your request (…)")
  })

  test("says that the service has no capacity, and when to try again", async () => {
    const busy = await send(ask("x", { model: "busy" }))
    expect(refusalOf(busy)).toEqual([429, "rate_limited"])
    expect(busy.headers.get("retry-after")).toBe("20")
  })

  test.each(["broken", "moved"])("is a failure of the service if it is %s", async (model) => {
    expect(refusalOf(await send(ask("x", { model })))).toEqual([502, "openai_failed"])
    // A redirect is not followed: the key is for this address only.
    expect(service.requests.at(-1)?.path).toBe("/v1/chat/completions")
  })
}

describeSqliteApi(
  "POST /v1/openai/chat/completions, with a wrong key,",
  ({ call, sharedUser }) => {
    test("says so, and shows neither the key nor the address", async () => {
      const refused = await call("POST", path, { as: await sharedUser(), body: ask("x") })
      expect(refusalOf(refused)).toEqual([502, "openai_failed"])
      expect(refused.text).not.toContain("sk-wrong")
      expect(refused.text).not.toContain("127.0.0.1")
    })
  },
  { ...env, HAMLET_OPENAI_KEY: "sk-wrong" },
)

describeSqliteApi(
  "POST /v1/openai/chat/completions, with limits,",
  ({ call, addUser }) => {
    describe("per account,", () => {
      // Limits refill with time.
      beforeEach(() => void setSystemTime(new Date()))
      afterEach(() => void setSystemTime())

      test("refuses requests beyond those of a minute", async () => {
        const [ada, bob] = [await addUser(), await addUser()]
        for (let sent = 0; sent < 3; sent += 1)
          expectStatus(await call("POST", path, { as: ada, body: ask("x") }), 200)
        const refused = await call("POST", path, { as: ada, body: ask("x") })
        expect(refusalOf(refused)).toEqual([429, "rate_limited"])
        expect(refused.json.message).toContain("for this minute")
        expectStatus(await call("POST", path, { as: bob, body: ask("x") }), 200)
      })

      test("refuses a body that is too large, before the service gets it", async () => {
        const before = service.requests.length
        const refused = await call("POST", path, {
          as: await addUser(),
          body: ask("x".repeat(2000)),
        })
        expect(refusalOf(refused)).toEqual([413, "body_too_large"])
        expect(service.requests).toHaveLength(before)
      })
    })
  },
  {
    ...env,
    HAMLET_OPENAI_REQUESTS_PER_MINUTE: "3",
    HAMLET_OPENAI_BODY_BYTES_MAX: "1024",
  },
)
