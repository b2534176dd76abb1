import { afterEach, beforeEach, describe, expect, setSystemTime, test } from "bun:test"
import type { Scope } from "@hamlet/contract"
import { waitUntil } from "@hamlet/kit/testing"
import { hashToken, makeTokenText } from "../../src/domain/accounts/token-text.ts"
import { toPageKey } from "../../src/shared/cookies.ts"
import { expectStatus, type TestResponse, type TestUser, testBaseUrl } from "../support/api.ts"
import { dumpDatabase } from "./dump.ts"
import { type ApiSuite, describeApi, idsOf, refusalOf } from "./suite.ts"

const missing = "01890000-0000-7000-8000-000000000000"
const dayMs = 86_400_000
const minuteMs = 60_000
/** What the pages of the server send. */
const ownPage = { "x-hamlet-session": "1" }

/** Every way in which a request can come from somewhere else; each alone is enough. */
const foreign: readonly (readonly [string, Record<string, string>])[] = [
  ["without the header", {}],
  ["with another value of the header", { "x-hamlet-session": "0" }],
  ["from a val's page, which is on the same site", { ...ownPage, "sec-fetch-site": "same-site" }],
  ["from another site", { ...ownPage, "sec-fetch-site": "cross-site" }],
  ["that the user began themselves", { ...ownPage, "sec-fetch-site": "none" }],
  ["with the origin of a val", { ...ownPage, origin: "http://ada-hello.hamlet.test" }],
  ["with the origin of another port", { ...ownPage, origin: `${testBaseUrl}:8081` }],
  ["with an origin that begins alike", { ...ownPage, origin: `${testBaseUrl}.example.com` }],
  [
    "with an origin that has it for a user",
    { ...ownPage, origin: `http://hamlet.test@example.com` },
  ],
  ["with no origin worth the name", { ...ownPage, origin: "null" }],
  ["with the origin of a file", { ...ownPage, origin: "file://" }],
]

/** What the pages of the server themselves may look like to it. */
const own: readonly Record<string, string>[] = [
  ownPage,
  { ...ownPage, "sec-fetch-site": "same-origin" },
  { ...ownPage, origin: testBaseUrl },
  { ...ownPage, origin: testBaseUrl.toUpperCase(), "sec-fetch-site": "same-origin" },
  { ...ownPage, origin: "https://hamlet.example:8443", host: "Hamlet.Example:8443" },
]

describeApi("api/sessions", (suite) => {
  afterEach(() => void setSystemTime())
  describe("POST /v1/sessions", () => defineSignIn(suite))
  describe("POST /v1/me/sign-in-links", () => defineLinks(suite))
  describe("a session", () => defineUse(suite))
  describe("the cookie", () => defineCookie(suite))
  describe("a request from elsewhere", () => defineForeign(suite))
  describe("GET /v1/me/sessions", () => defineList(suite))
  describe("DELETE", () => defineEnd(suite))
})

describeApi(
  "api/sessions over https",
  (suite) => {
    test("have a Secure cookie with the __Host- prefix", async () => {
      const ada = await suite.addUser()
      const response = expectStatus(await signIn(suite, { token: ada.token }), 200)
      const [cookie = "", ...attributes] = (response.headers.get("set-cookie") ?? "").split("; ")
      expect(cookie).toMatch(/^__Host-hamlet_session=hamlet_session_[0-9A-Za-z]{49}$/)
      expect(attributes.sort()).toEqual([
        "HttpOnly",
        `Max-Age=${7 * 86_400}`,
        "Path=/",
        "SameSite=Strict",
        "Secure",
      ])
      expect((await asBrowser(suite, "GET", "/v1/me", cookie)).json.id).toBe(ada.id)
      expect(
        refusalOf(await asBrowser(suite, "GET", "/v1/me", cookie.replace("__Host-", ""))),
      ).toEqual([401, "unauthenticated"])
      const planted = `${cookie}; ${cookie.replace("__Host-", "").replace(/=.*/, "=planted")}`
      expect((await asBrowser(suite, "GET", "/v1/me", cookie, undefined, planted)).json.id).toBe(
        ada.id,
      )
    })
  },
  { HAMLET_BASE_URL: "https://hamlet.test", HAMLET_SESSION_DAYS: "7" },
)

describeApi(
  "api/sessions rate limits",
  (suite) => {
    // Limits refill with time.
    beforeEach(() => void setSystemTime(new Date()))
    afterEach(() => void setSystemTime())
    test("count every sign-in attempt and every invalid session as a request without a token", async () => {
      const send = async (
        method: string,
        path: string,
        headers: Record<string, string>,
        body?: object,
      ) =>
        (
          await suite.api.hamlet.app.fetch(
            new Request(`${testBaseUrl}${path}`, {
              method,
              headers,
              ...(body ? { body: JSON.stringify(body) } : {}),
            }),
            { address: () => "192.0.2.1" },
          )
        ).status
      expect(await send("POST", "/v1/sessions", ownPage, { token: "x".repeat(40) })).toBe(401)
      expect(await send("POST", "/v1/sessions", {}, { code: "x" })).toBe(403)
      expect(await send("GET", "/v1/me", { ...ownPage, cookie: "hamlet_session=x" })).toBe(401)
      expect(await send("POST", "/v1/sessions", ownPage, { token: suite.api.admin.token })).toBe(
        429,
      )
      expect(await send("GET", "/v1/me", { ...ownPage, cookie: "hamlet_session=x" })).toBe(429)
    })
  },
  { HAMLET_RATE_PER_ADDRESS: "3" },
)

function signIn(
  { call }: ApiSuite,
  body: object,
  headers: Record<string, string> = {},
): Promise<TestResponse> {
  return call("POST", "/v1/sessions", { body, headers: { ...ownPage, ...headers } })
}

/** Name and value of the cookie that an answer sets. */
function cookieOf(response: TestResponse): string {
  return (response.headers.get("set-cookie") ?? "").split(";")[0] ?? ""
}

async function signedIn(
  suite: ApiSuite,
  user: TestUser | string,
): Promise<{ readonly id: string; readonly cookie: string }> {
  const response = expectStatus(
    await signIn(suite, { token: typeof user === "string" ? user : user.token }),
    200,
  )
  return { id: response.json.id, cookie: cookieOf(response) }
}

/** What a page sends that was there when the browser signed in. */
function pageOf(cookie: string): Record<string, string> {
  return { "x-hamlet-session": toPageKey(cookie.slice(cookie.indexOf("=") + 1)) }
}

/** Sends a request as the page of one session, with any cookies. */
function asBrowser(
  { call }: ApiSuite,
  method: string,
  path: string,
  cookie: string,
  body?: object,
  cookies = cookie,
): Promise<TestResponse> {
  return call(method, path, { body, headers: { ...pageOf(cookie), cookie: cookies } })
}

function isCleared(response: TestResponse): boolean {
  return /^hamlet_session=; Path=\/; Max-Age=0; /.test(response.headers.get("set-cookie") ?? "")
}

async function codeOf({ call }: ApiSuite, as: TestUser | string): Promise<string> {
  const { url } = expectStatus(await call("POST", "/v1/me/sign-in-links", { as }), 200).json
  return new URL(url).hash.slice("#code=".length)
}

async function narrow(
  suite: ApiSuite,
  user: TestUser,
  scopes: readonly Scope[],
  expiresAt: number | null = null,
) {
  return suite.api.hamlet.nouns.tokens.issue(user.id, { name: "narrow", scopes, expiresAt })
}

function defineSignIn(suite: ApiSuite): void {
  const { call, addUser: person } = suite

  test("with a token is 200 with the session and its cookie, which has the scopes of the token", async () => {
    const ada = await person()
    const { text } = await narrow(suite, ada, ["user:read", "val:read"])
    const response = expectStatus(
      await signIn(suite, { token: text }, { "user-agent": "Mozilla/5.0 (Ada)" }),
      200,
    )
    expect(response.json).toEqual({
      id: expect.any(String),
      userAgent: "Mozilla/5.0 (Ada)",
      createdAt: expect.stringMatching(/Z$/),
      expiresAt: expect.stringMatching(/Z$/),
      lastUsedAt: null,
      current: true,
      pageKey: expect.stringMatching(/^[\w-]{43}$/),
    })
    expect(Date.parse(response.json.expiresAt) - Date.parse(response.json.createdAt)).toBe(
      30 * dayMs,
    )
    expect((await asBrowser(suite, "GET", "/v1/me", cookieOf(response))).json.id).toBe(ada.id)
    expect(
      refusalOf(await asBrowser(suite, "POST", "/v1/vals", cookieOf(response), { code: "1" })),
    ).toEqual([403, "missing_scope"])
  })

  test("with an earlier cookie creates a new session, and ends the old one", async () => {
    const [ada, eve] = [await person(), await person()]
    const planted = await signedIn(suite, eve)
    const made = cookieOf(
      expectStatus(await signIn(suite, { token: ada.token }, { cookie: planted.cookie }), 200),
    )
    expect(made).not.toBe(planted.cookie)
    expect((await asBrowser(suite, "GET", "/v1/me", made)).json.id).toBe(ada.id)
    expect(refusalOf(await asBrowser(suite, "GET", "/v1/me", planted.cookie))).toEqual([
      401,
      "invalid_session",
    ])
    const invented = `hamlet_session=${makeTokenText(Buffer.alloc(32, 5), "session")}`
    expect(
      cookieOf(expectStatus(await signIn(suite, { token: ada.token }, { cookie: invented }), 200)),
    ).not.toBe(invented)
    expect(refusalOf(await asBrowser(suite, "GET", "/v1/me", invented))).toEqual([
      401,
      "invalid_session",
    ])
  })

  for (const body of [
    {},
    { token: "x", code: "x" },
    { token: "" },
    { token: 5 },
    { code: null },
    { token: "x".repeat(201) },
    [],
  ]) {
    test(`refuses ${JSON.stringify(body).slice(0, 40)}`, async () => {
      expect(refusalOf(await signIn(suite, body))).toEqual([400, "invalid_request"])
    })
  }

  test("refuses an invalid, an expired and a revoked token", async () => {
    const ada = await person()
    const expired = await narrow(suite, ada, ["user:read"], Date.now() - 1)
    const revoked = await narrow(suite, ada, ["user:read"])
    expectStatus(await call("DELETE", `/v1/me/tokens/${revoked.token.id}`, { as: ada }), 204)
    for (const token of [
      "x".repeat(40),
      "é",
      expired.text,
      revoked.text,
      makeTokenText(Buffer.alloc(32, 1)),
    ]) {
      const response = await signIn(suite, { token })
      expect(refusalOf(response)).toEqual([401, "invalid_token"])
      expect(response.headers.get("set-cookie")).toBeNull()
    }
  })

  test("refuses a run token, which cannot create a link either", async () => {
    const { nouns, stores, parts } = suite.api.hamlet
    const { runTokens } = parts.accounts
    const ada = await person()
    const token = runTokens.issue(ada)
    expect(refusalOf(await signIn(suite, { token }))).toEqual([401, "invalid_token"])
    // The database hears of it a moment later, and then it could be what a session comes from.
    await waitUntil(async () => (await stores.tokens.findHolder(hashToken(token))) !== undefined)
    expect(refusalOf(await signIn(suite, { token }))).toEqual([401, "invalid_token"])
    expect(refusalOf(await call("POST", "/v1/me/sign-in-links", { as: token }))).toEqual([
      403,
      "missing_scope",
    ])
    // For all scopes.
    await expect(
      nouns.signInLinks.create(await nouns.tokens.authenticate(token)),
    ).rejects.toMatchObject({
      code: "invalid_token",
    })
    expect((await stores.sessions.list(ada.id, 0, { limit: 5, offset: 0 })).items).toEqual([])
  })

  test("refuses a session or a link as the token, and a token or a session as the code", async () => {
    const ada = await person()
    const session = (await signedIn(suite, ada)).cookie.slice("hamlet_session=".length)
    const code = await codeOf(suite, ada)
    for (const token of [session, code])
      expect(refusalOf(await signIn(suite, { token }))).toEqual([401, "invalid_token"])
    for (const one of [session, ada.token])
      expect(refusalOf(await signIn(suite, { code: one }))).toEqual([401, "invalid_sign_in_code"])
    expectStatus(await signIn(suite, { code }), 200)
  })

  test("leaves no readable session or link in the database", async () => {
    const ada = await person()
    const { id, cookie } = await signedIn(suite, ada)
    const code = await codeOf(suite, ada)
    const dump = await dumpDatabase(suite.database)
    expect(dump).toContain(id)
    for (const text of [cookie.split("=")[1] ?? "", code])
      expect(dump).not.toContain(text.split("_")[2] ?? "")
  })

  test("truncates a long User-Agent, and accepts an empty one", async () => {
    const ada = await person()
    const { json } = expectStatus(
      await signIn(suite, { token: ada.token }, { "user-agent": "x".repeat(5000) }),
      200,
    )
    expect(json.userAgent).toMatch(/^x{300}… /)
    expect((await signIn(suite, { token: ada.token })).json.userAgent).toBeNull()
  })

  test("ends the least recently used session when there are too many", async () => {
    const ada = await person()
    const start = Date.now()
    setSystemTime(new Date(start))
    const first = await signedIn(suite, ada)
    setSystemTime(new Date(start + 1))
    const second = await signedIn(suite, ada)
    setSystemTime(new Date(start + 2))
    await asBrowser(suite, "GET", "/v1/me", first.cookie)
    await suite.api.hamlet.nouns.tokenUses.stop()
    setSystemTime(new Date(start + 3))
    for (let count = 2; count <= 100; count += 1) await signedIn(suite, ada)
    expectStatus(await asBrowser(suite, "GET", "/v1/me", first.cookie), 200)
    expect(refusalOf(await asBrowser(suite, "GET", "/v1/me", second.cookie))).toEqual([
      401,
      "invalid_session",
    ])
    expect(idsOf(await call("GET", "/v1/me/sessions?limit=100", { as: ada }))).toHaveLength(100)
  })
}

function defineLinks(suite: ApiSuite): void {
  const { call, addUser: person } = suite

  test("is 200 with a link that signs in once, with the scopes of its creator", async () => {
    const ada = await person()
    const { text } = await narrow(suite, ada, ["user:read", "user:write"])
    const { json } = expectStatus(await call("POST", "/v1/me/sign-in-links", { as: text }), 200)
    expect(json).toEqual({
      url: expect.stringMatching(
        /^http:\/\/hamlet\.test\/sign-in#code=hamlet_link_[0-9A-Za-z]{49}$/,
      ),
      expiresAt: expect.stringMatching(/Z$/),
    })
    const code = json.url.split("#code=")[1]
    const cookie = cookieOf(expectStatus(await signIn(suite, { code }), 200))
    expect((await asBrowser(suite, "GET", "/v1/me", cookie)).json.id).toBe(ada.id)
    expect(refusalOf(await asBrowser(suite, "GET", "/v1/vals", cookie))).toEqual([
      403,
      "missing_scope",
    ])
    expect(refusalOf(await signIn(suite, { code }))).toEqual([401, "invalid_sign_in_code"])
  })

  test("/v1/sign-in-links/owner returns the account of a link, and does not use it up", async () => {
    const ada = await person()
    const start = Date.now()
    setSystemTime(new Date(start))
    const code = await codeOf(suite, ada)
    const ask = (code: string) =>
      call("POST", "/v1/sign-in-links/owner", { body: { code }, headers: ownPage })
    const owner = {
      username: ada.username,
      expiresAt: new Date(start + 15 * minuteMs).toISOString(),
    }
    for (let times = 0; times < 2; times += 1)
      expect(expectStatus(await ask(code), 200).json).toEqual(owner)
    const useless = [401, "invalid_sign_in_code"] as const
    const { cookie } = await signedIn(suite, ada)
    for (const one of [
      "x",
      ada.token,
      cookie.slice("hamlet_session=".length),
      makeTokenText(Buffer.alloc(32, 3), "link"),
    ])
      expect(refusalOf(await ask(one))).toEqual([...useless])
    expectStatus(await signIn(suite, { code }), 200)
    expect(refusalOf(await ask(code))).toEqual([...useless])
    const late = await codeOf(suite, ada)
    setSystemTime(new Date(start + 15 * minuteMs))
    expect(refusalOf(await ask(late))).toEqual([...useless])
    expect(
      refusalOf(await call("POST", "/v1/sign-in-links/owner", { body: { code: late } })),
    ).toEqual([403, "cross_site_request"])
  })

  test("lets exactly one of many simultaneous requests with one code sign in", async () => {
    const code = await codeOf(suite, await person())
    const responses = await Promise.all(Array.from({ length: 8 }, () => signIn(suite, { code })))
    expect(responses.map(({ status }) => status).sort()).toEqual([
      200,
      ...Array.from({ length: 7 }, () => 401),
    ])
  })

  test("expires after 15 minutes", async () => {
    const ada = await person()
    const start = Date.now()
    setSystemTime(new Date(start))
    const [early, late] = [await codeOf(suite, ada), await codeOf(suite, ada)]
    setSystemTime(new Date(start + 15 * minuteMs - 1))
    expectStatus(await signIn(suite, { code: early }), 200)
    setSystemTime(new Date(start + 15 * minuteMs))
    expect(refusalOf(await signIn(suite, { code: late }))).toEqual([401, "invalid_sign_in_code"])
  })

  test("created in a browser gives another session, which ends with the token but not with the first session", async () => {
    const ada = await person()
    const { token, text } = await narrow(suite, ada, ["user:read", "user:write"])
    const first = await signedIn(suite, text)
    const { url } = expectStatus(
      await asBrowser(suite, "POST", "/v1/me/sign-in-links", first.cookie),
      200,
    ).json
    const second = cookieOf(
      expectStatus(await signIn(suite, { code: url.split("#code=")[1] }), 200),
    )
    expectStatus(await asBrowser(suite, "DELETE", "/v1/me/session", first.cookie), 204)
    expectStatus(await asBrowser(suite, "GET", "/v1/me", second), 200)
    expectStatus(await call("DELETE", `/v1/me/tokens/${token.id}`, { as: ada }), 204)
    expect(refusalOf(await asBrowser(suite, "GET", "/v1/me", second))).toEqual([
      401,
      "invalid_session",
    ])
  })

  test("is invalid after its token is revoked or its user signs out everywhere", async () => {
    const ada = await person()
    const { token, text } = await narrow(suite, ada, ["user:write"])
    const [one, two] = [await codeOf(suite, text), await codeOf(suite, ada)]
    expectStatus(await call("DELETE", `/v1/me/tokens/${token.id}`, { as: ada }), 204)
    expect(refusalOf(await signIn(suite, { code: one }))).toEqual([401, "invalid_sign_in_code"])
    expectStatus(await call("DELETE", "/v1/me/sessions", { as: ada }), 204)
    expect(refusalOf(await signIn(suite, { code: two }))).toEqual([401, "invalid_sign_in_code"])
  })

  test("drops the oldest link when too many are unused", async () => {
    const ada = await person()
    const start = Date.now()
    setSystemTime(new Date(start))
    const oldest = await codeOf(suite, ada)
    setSystemTime(new Date(start + 1))
    const next = await codeOf(suite, ada)
    for (let count = 2; count <= 20; count += 1) await codeOf(suite, ada)
    expect(refusalOf(await signIn(suite, { code: oldest }))).toEqual([401, "invalid_sign_in_code"])
    expectStatus(await signIn(suite, { code: next }), 200)
  })
}

function defineUse(suite: ApiSuite): void {
  const { call, addUser: person } = suite

  test("has the access of its token", async () => {
    const { cookie } = await signedIn(suite, await person())
    const val = expectStatus(
      await asBrowser(suite, "POST", "/v1/vals", cookie, { code: "1", privacy: "private" }),
      200,
    ).json
    expectStatus(await asBrowser(suite, "GET", `/v1/vals/${val.id}`, cookie), 200)
    expect(refusalOf(await call("GET", `/v1/vals/${val.id}`, { headers: { cookie } }))).toEqual([
      404,
      "val_not_found",
    ])
    expectStatus(await asBrowser(suite, "DELETE", `/v1/vals/${val.id}`, cookie), 204)
  })

  test("can run vals, as the web app does", async () => {
    const ada = await person()
    const { cookie } = await signedIn(suite, ada)
    const val = expectStatus(
      await asBrowser(suite, "POST", "/v1/vals", cookie, { code: "export default 1" }),
      200,
    ).json
    expectStatus(await asBrowser(suite, "POST", `/v1/vals/${val.id}/runs`, cookie, {}), 200)
    expectStatus(await call("POST", `/v1/vals/${val.id}/runs`, { as: ada, body: {} }), 200)
    const { data } = expectStatus(await call("GET", "/v1/me/runs", { as: ada }), 200).json
    expect(data.map((run: { source: string }) => run.source)).toEqual(["api", "ui"])
  })

  test("is refused from the moment it expires, not before, and the cookie is cleared", async () => {
    const start = Date.now()
    setSystemTime(new Date(start))
    const [used, unused] = [
      await signedIn(suite, await person()),
      await signedIn(suite, await person()),
    ]
    setSystemTime(new Date(start + 30 * dayMs - 1))
    expectStatus(await asBrowser(suite, "GET", "/v1/me", used.cookie), 200)
    setSystemTime(new Date(start + 30 * dayMs))
    const response = await asBrowser(suite, "GET", "/v1/me", unused.cookie)
    expect(refusalOf(response)).toEqual([401, "invalid_session"])
    // The refusal may arrive after the response of the next sign-in, whose cookie must stay.
    expect(response.headers.get("set-cookie")).toBeNull()
    // Routes without authentication refuse the session, too: the page must learn of it.
    expect(refusalOf(await asBrowser(suite, "GET", "/v1/vals", unused.cookie))).toEqual([
      401,
      "invalid_session",
    ])
    expectStatus(await asBrowser(suite, "GET", "/v1/me", used.cookie), 200)
  })

  test("is extended by use: after a day the cookie gets its full lifetime again", async () => {
    const start = Date.now()
    setSystemTime(new Date(start))
    const { id, cookie } = await signedIn(suite, await person())
    setSystemTime(new Date(start + dayMs - 1))
    expect((await asBrowser(suite, "GET", "/v1/me", cookie)).headers.get("set-cookie")).toBeNull()
    setSystemTime(new Date(start + dayMs))
    const renewed = await asBrowser(suite, "GET", "/v1/me/sessions", cookie)
    expect(renewed.headers.get("set-cookie")).toBe(
      `${cookie}; Path=/; Max-Age=${30 * 86_400}; HttpOnly; SameSite=Strict`,
    )
    const again = await asBrowser(suite, "GET", "/v1/me/sessions", cookie)
    expect(again.headers.get("set-cookie")).toBeNull()
    expect(again.json.data).toMatchObject([
      { id, expiresAt: new Date(start + 31 * dayMs).toISOString() },
    ])
    setSystemTime(new Date(start + 2 * dayMs))
    expect(
      isCleared(expectStatus(await asBrowser(suite, "DELETE", "/v1/me/session", cookie), 204)),
    ).toBe(true)
  })

  test("gets no-store on private vals and on responses that set its cookie", async () => {
    const start = Date.now()
    setSystemTime(new Date(start))
    const ada = await person()
    const { cookie } = await signedIn(suite, ada)
    await suite.val(ada, { name: "hidden", privacy: "private" })
    await suite.val(ada, { name: "shown", privacy: "public" })
    const look = async (name: string) => {
      const { headers } = expectStatus(
        await asBrowser(suite, "GET", `/v/${ada.username}/${name}@1`, cookie),
        200,
      )
      return [headers.get("cache-control"), headers.has("set-cookie")]
    }
    expect(await look("hidden")).toEqual(["no-store", false])
    expect(await look("shown")).toEqual(["public, max-age=31536000, immutable", false])
    setSystemTime(new Date(start + dayMs))
    expect(await look("shown")).toEqual(["no-store", true])
  })

  test("ends when its token expires, however often it is used", async () => {
    const start = Date.now()
    setSystemTime(new Date(start))
    const ada = await person()
    const expiresAt = start + 5 * dayMs
    const { text } = await narrow(suite, ada, ["user:read", "user:write"], expiresAt)
    const { cookie } = await signedIn(suite, text)
    const linked = cookieOf(
      expectStatus(await signIn(suite, { code: await codeOf(suite, text) }), 200),
    )
    setSystemTime(new Date(start + 3 * dayMs))
    const listed = await asBrowser(suite, "GET", "/v1/me/sessions", cookie)
    expect(listed.headers.get("set-cookie")).toBeNull()
    expect(listed.json.data.map((it: { expiresAt: string }) => Date.parse(it.expiresAt))).toEqual([
      expiresAt,
      expiresAt,
    ])
    setSystemTime(new Date(expiresAt))
    for (const one of [cookie, linked])
      expect(refusalOf(await asBrowser(suite, "GET", "/v1/me", one))).toEqual([
        401,
        "invalid_session",
      ])
  })

  test("ends at once when its token is revoked", async () => {
    const ada = await person()
    const { token, text } = await narrow(suite, ada, ["user:read"])
    const { cookie } = await signedIn(suite, text)
    const other = await signedIn(suite, ada)
    expectStatus(await asBrowser(suite, "GET", "/v1/me", cookie), 200)
    expectStatus(await call("DELETE", `/v1/me/tokens/${token.id}`, { as: ada }), 204)
    expect(refusalOf(await asBrowser(suite, "GET", "/v1/me", cookie))).toEqual([
      401,
      "invalid_session",
    ])
    expectStatus(await asBrowser(suite, "GET", "/v1/me", other.cookie), 200)
  })

  test("is not accepted as a token, nor a token as a session", async () => {
    const ada = await person()
    const { cookie } = await signedIn(suite, ada)
    expect(
      refusalOf(await call("GET", "/v1/me", { as: cookie.slice("hamlet_session=".length) })),
    ).toEqual([401, "invalid_token"])
    expect(
      refusalOf(await asBrowser(suite, "GET", "/v1/me", `hamlet_session=${ada.token}`)),
    ).toEqual([401, "invalid_session"])
    expect(
      refusalOf(
        await asBrowser(suite, "GET", "/v1/me", `hamlet_session=${await codeOf(suite, ada)}`),
      ),
    ).toEqual([401, "invalid_session"])
  })

  test("is ignored when a token is sent too", async () => {
    const [ada, bob] = [await person(), await person()]
    const { cookie } = await signedIn(suite, ada)
    const headers = { ...pageOf(cookie), cookie }
    expect((await call("GET", "/v1/me", { as: bob, headers })).json.id).toBe(bob.id)
    expect(refusalOf(await call("GET", "/v1/me", { as: "x".repeat(40), headers }))).toEqual([
      401,
      "invalid_token",
    ])
  })

  test("is not in the list of tokens, and cannot be revoked as one", async () => {
    const ada = await person()
    const { id, cookie } = await signedIn(suite, ada)
    await codeOf(suite, ada)
    expect(
      (await asBrowser(suite, "GET", "/v1/me/tokens", cookie)).json.data.map(
        (it: { name: string }) => it.name,
      ),
    ).toEqual(["first token"])
    expect(refusalOf(await call("DELETE", `/v1/me/tokens/${id}`, { as: ada }))).toEqual([
      404,
      "token_not_found",
    ])
    expectStatus(await asBrowser(suite, "GET", "/v1/me", cookie), 200)
  })
}

function defineCookie(suite: ApiSuite): void {
  const { addUser: person } = suite

  test("is HttpOnly, and has no Domain", async () => {
    const { headers } = await signIn(suite, { token: (await person()).token })
    const [cookie, ...attributes] = (headers.get("set-cookie") ?? "").split("; ")
    expect(cookie).toMatch(/^hamlet_session=hamlet_session_[0-9A-Za-z]{49}$/)
    expect(attributes.sort()).toEqual([
      "HttpOnly",
      `Max-Age=${30 * 86_400}`,
      "Path=/",
      "SameSite=Strict",
    ])
    expect(headers.get("cache-control")).toBe("no-store")
  })

  test("is accepted only with its key, among any other cookies", async () => {
    const [ada, eve] = [await person(), await person()]
    const [mine, planted] = [
      (await signedIn(suite, ada)).cookie,
      (await signedIn(suite, eve)).cookie,
    ]
    for (const header of [
      `a=b; ${mine}`,
      `${mine};c`,
      ` ${mine} ; x_${planted}`,
      `${mine}; HAMLET_SESSION=x`,
      `${mine}; ${planted}`,
      `${planted}; ${mine}`,
      `${mine}; ${mine}`,
      `${mine};hamlet_session`,
      `hamlet_session=;${mine}`,
    ])
      expect((await asBrowser(suite, "GET", "/v1/me", mine, undefined, header)).json.id).toBe(
        ada.id,
      )
  })

  test("that an attacker set is anonymous: the page has no key, or the key of another session", async () => {
    const [ada, eve] = [await person(), await person()]
    const [mine, planted] = [
      (await signedIn(suite, ada)).cookie,
      (await signedIn(suite, eve)).cookie,
    ]
    for (const cookie of [planted, `${planted}; ${mine}`]) {
      const response = await suite.call("GET", "/v1/me", { headers: { ...ownPage, cookie } })
      expect(refusalOf(response)).toEqual([401, "unauthenticated"])
      expect(response.headers.get("set-cookie")).toBeNull()
    }
    // The page learns that its session is gone.
    const response = await asBrowser(suite, "GET", "/v1/me", mine, undefined, planted)
    expect(refusalOf(response)).toEqual([401, "invalid_session"])
    // The refusal may arrive after the response of the next sign-in, whose cookie must stay.
    expect(response.headers.get("set-cookie")).toBeNull()
    // Without a cookie the request is anonymous.
    expect(refusalOf(await suite.call("GET", "/v1/me", { headers: pageOf(mine) }))).toEqual([
      401,
      "unauthenticated",
    ])
  })

  test("is ended by the next sign-in of its page, and not confused with a cookie that an attacker set", async () => {
    const [ada, eve] = [await person(), await person()]
    const [mine, planted] = [
      (await signedIn(suite, ada)).cookie,
      (await signedIn(suite, eve)).cookie,
    ]
    expectStatus(
      await signIn(suite, { token: ada.token }, { ...pageOf(mine), cookie: `${planted}; ${mine}` }),
      200,
    )
    expect(refusalOf(await asBrowser(suite, "GET", "/v1/me", mine))).toEqual([
      401,
      "invalid_session",
    ])
    expect((await asBrowser(suite, "GET", "/v1/me", planted)).json.id).toBe(eve.id)
  })

  test("with an invalid value is an ended session", async () => {
    for (const value of ["", "x", '"x"', "hamlet_session_", "a=b", "x, y", "é"]) {
      const response = await asBrowser(suite, "GET", "/v1/me", `hamlet_session=${value}`)
      expect(refusalOf(response)).toEqual([401, "invalid_session"])
      expect(response.headers.get("set-cookie")).toBeNull()
    }
  })
}

function defineForeign(suite: ApiSuite): void {
  const { call, addUser: person, sharedUser: anybody } = suite

  test.each(foreign)("%s is anonymous, and cannot sign in", async (_, headers) => {
    const ada = await anybody()
    const { cookie } = await signedIn(suite, ada)
    const page = headers["x-hamlet-session"] === "1" ? { ...headers, ...pageOf(cookie) } : headers
    const response = await call("GET", "/v1/me", { headers: { ...page, cookie } })
    expect(refusalOf(response)).toEqual([401, "unauthenticated"])
    expect(response.headers.get("set-cookie")).toBeNull()
    expectStatus(
      await call("GET", "/v1/vals", { headers: { ...headers, cookie: "hamlet_session=ended" } }),
      200,
    )
    const attempt = await call("POST", "/v1/sessions", { headers, body: { token: ada.token } })
    expect(refusalOf(attempt)).toEqual([403, "cross_site_request"])
    expect(attempt.headers.get("set-cookie")).toBeNull()
  })

  test("with a code does not use it up", async () => {
    const code = await codeOf(suite, await person())
    expectStatus(await call("POST", "/v1/sessions", { body: { code } }), 403)
    expectStatus(await signIn(suite, { code }), 200)
  })

  test.each(own)("is distinguished from a request of our own pages: %j", async (headers) => {
    const ada = await anybody()
    const response = expectStatus(
      await call("POST", "/v1/sessions", { headers, body: { token: ada.token } }),
      200,
    )
    const cookie = cookieOf(response)
    expect(
      (await call("GET", "/v1/me", { headers: { ...headers, ...pageOf(cookie), cookie } })).json.id,
    ).toBe(ada.id)
  })

  test("gets neither the header nor the cookie allowed by CORS", async () => {
    const { cookie } = await signedIn(suite, await anybody())
    const origin = "http://ada-hello.hamlet.test"
    for (const path of ["/v1/me", "/v1/sessions"]) {
      const headers = {
        origin,
        cookie,
        "access-control-request-method": "GET",
        "access-control-request-headers": "x-hamlet-session",
      }
      const preflight = await call("OPTIONS", path, { headers })
      expect(preflight.headers.get("access-control-allow-headers")).not.toContain("session")
      expect(preflight.headers.get("access-control-allow-headers")).not.toContain("*")
      for (const response of [
        preflight,
        await call("GET", path, { headers: { ...pageOf(cookie), origin, cookie } }),
      ]) {
        expect(response.headers.get("access-control-allow-credentials")).toBeNull()
        expect(response.headers.get("access-control-allow-origin")).toBe("*")
      }
    }
  })
}

function defineList(suite: ApiSuite): void {
  const { call, addUser: person } = suite

  test("has the caller's sessions, latest first, and marks the current one", async () => {
    const [ada, bob] = [await person(), await person()]
    const [one, two] = [await signedIn(suite, ada), await signedIn(suite, ada)]
    await signedIn(suite, bob)
    await codeOf(suite, ada)
    const marks = async (cookie: string) =>
      (await asBrowser(suite, "GET", "/v1/me/sessions", cookie)).json.data.map(
        (it: { id: string; current: boolean }) => [it.id, it.current],
      )
    expect(await marks(one.cookie)).toEqual([
      [two.id, false],
      [one.id, true],
    ])
    expect(await marks(two.cookie)).toEqual([
      [two.id, true],
      [one.id, false],
    ])
    const { json } = expectStatus(
      await call("GET", "/v1/me/sessions?limit=1&offset=1", { as: ada }),
      200,
    )
    expect(json.data).toMatchObject([{ id: one.id, current: false }])
  })

  test("leaves out expired sessions", async () => {
    const ada = await person()
    const start = Date.now()
    setSystemTime(new Date(start))
    await signedIn(suite, ada)
    setSystemTime(new Date(start + 30 * dayMs))
    expect(idsOf(await call("GET", "/v1/me/sessions", { as: ada }))).toEqual([])
  })

  test("has the last use of a session", async () => {
    const ada = await person()
    const { cookie } = await signedIn(suite, ada)
    const before = Date.now()
    await asBrowser(suite, "GET", "/v1/me", cookie)
    await suite.api.hamlet.nouns.tokenUses.stop()
    const [session] = (await call("GET", "/v1/me/sessions", { as: ada })).json.data
    expect(Date.parse(session.lastUsedAt)).toBeGreaterThanOrEqual(before)
  })
}

function defineEnd(suite: ApiSuite): void {
  const { call, addUser: person } = suite

  test("/v1/me/sessions/{session_id} ends that session at once, and clears the cookie if it is the current one", async () => {
    const ada = await person()
    const [one, two] = [await signedIn(suite, ada), await signedIn(suite, ada)]
    const response = expectStatus(
      await asBrowser(suite, "DELETE", `/v1/me/sessions/${one.id.toUpperCase()}`, two.cookie),
      204,
    )
    expect(response.headers.get("set-cookie")).toBeNull()
    expect(refusalOf(await asBrowser(suite, "GET", "/v1/me", one.cookie))).toEqual([
      401,
      "invalid_session",
    ])
    expect(
      isCleared(
        expectStatus(
          await asBrowser(suite, "DELETE", `/v1/me/sessions/${two.id}`, two.cookie),
          204,
        ),
      ),
    ).toBe(true)
    expect(refusalOf(await asBrowser(suite, "GET", "/v1/me", two.cookie))).toEqual([
      401,
      "invalid_session",
    ])
  })

  test("/v1/me/sessions/{session_id} is 404 for another user's session, a token and an unknown id, and 400 for an invalid id", async () => {
    const [ada, bob] = [await person(), await person()]
    const { id, cookie } = await signedIn(suite, ada)
    const [token] = (await call("GET", "/v1/me/tokens", { as: bob })).json.data
    for (const one of [id, token.id, missing])
      expect(refusalOf(await call("DELETE", `/v1/me/sessions/${one}`, { as: bob }))).toEqual([
        404,
        "session_not_found",
      ])
    expect(refusalOf(await call("DELETE", "/v1/me/sessions/all", { as: bob }))).toEqual([
      400,
      "invalid_request",
    ])
    expectStatus(await asBrowser(suite, "GET", "/v1/me", cookie), 200)
    expectStatus(await call("GET", "/v1/me", { as: bob }), 200)
  })

  test("/v1/me/sessions ends all sessions, and no token", async () => {
    const [ada, bob] = [await person(), await person()]
    const [one, two, other] = [
      await signedIn(suite, ada),
      await signedIn(suite, ada),
      await signedIn(suite, bob),
    ]
    expect(
      isCleared(expectStatus(await asBrowser(suite, "DELETE", "/v1/me/sessions", one.cookie), 204)),
    ).toBe(true)
    for (const { cookie } of [one, two])
      expect(refusalOf(await asBrowser(suite, "GET", "/v1/me", cookie))).toEqual([
        401,
        "invalid_session",
      ])
    expectStatus(await asBrowser(suite, "GET", "/v1/me", other.cookie), 200)
    expectStatus(await call("GET", "/v1/me", { as: ada }), 200)
  })

  test("/v1/me/session ends only the current session, whatever its scopes", async () => {
    const ada = await person()
    const one = await signedIn(suite, (await narrow(suite, ada, ["val:read"])).text)
    const two = await signedIn(suite, ada)
    expect(
      isCleared(expectStatus(await asBrowser(suite, "DELETE", "/v1/me/session", one.cookie), 204)),
    ).toBe(true)
    expect(refusalOf(await asBrowser(suite, "DELETE", "/v1/me/session", one.cookie))).toEqual([
      401,
      "invalid_session",
    ])
    expectStatus(await asBrowser(suite, "GET", "/v1/me", two.cookie), 200)
  })

  test("/v1/me/session with a token ends nothing", async () => {
    const ada = await person()
    const { cookie } = await signedIn(suite, ada)
    expectStatus(await call("DELETE", "/v1/me/session", { as: ada }), 204)
    expectStatus(await call("GET", "/v1/me", { as: ada }), 200)
    expectStatus(await asBrowser(suite, "GET", "/v1/me", cookie), 200)
  })
}
