import { afterEach, describe, expect, setSystemTime, test } from "bun:test"
import type { Scope } from "@hamlet/contract"
import {
  auth,
  type OAuthClientInformationMixed,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type OAuthTokens,
} from "@modelcontextprotocol/client"
import { asOwner } from "../../src/domain/access/rights.ts"
import { createAuthorizations } from "../../src/domain/oauth/authorizations.ts"
import { expectStatus, openApi, type TestUser, testBaseUrl } from "../support/api.ts"
import { connectMcp } from "./mcp-client.ts"
import {
  addAuthorization,
  addOAuthClient,
  redirectUri,
  toAuthorizeQuery,
  verifier,
} from "./oauth-flow.ts"
import { type ApiSuite, describeApi, refusalOf } from "./suite.ts"

describeApi("api/oauth", (suite) => {
  describe("discovery and registration", () => defineRegistration(suite))
  describe("consent", () => defineConsent(suite))
  describe("tokens", () => defineTokens(suite))
  describe("programs without a browser", () => defineDevices(suite))
})

let senders = 0

function createSender(suite: ApiSuite) {
  const send = async (method: string, path: string, init: RequestInit = {}) => {
    const { app } = suite.api.hamlet
    // Another address each time, because each may register few clients a minute.
    senders += 1
    const address = `10.0.${senders >> 8}.${senders & 255}`
    const request = new Request(testBaseUrl + path, { method, ...init })
    const response = await app.fetch(request, { address: () => address })
    const text = await response.text()
    const isJson = response.headers.get("content-type")?.startsWith("application/json")
    return {
      status: response.status,
      headers: response.headers,
      json: isJson ? JSON.parse(text) : text,
    }
  }
  const form = (path: string, fields: Record<string, string>) =>
    send("POST", path, { body: new URLSearchParams(fields) })
  const register = (body: unknown) =>
    send("POST", "/oauth/register", {
      body: typeof body === "string" ? body : JSON.stringify(body),
    })
  return { send, form, register }
}

function defineDevices(suite: ApiSuite): void {
  const { call, addUser } = suite
  const { send, form } = createSender(suite)
  afterEach(() => void setSystemTime())
  const client_id = "val_town_vt"
  const scope = "openid offline_access project_rw user_r telemetry_r"
  const start = async (fields: Record<string, string> = { client_id, scope }) =>
    form("/oauth/device_authorization", fields)
  const poll = (device_code: string) =>
    form("/oauth/token", {
      grant_type: "urn:ietf:params:oauth:grant-type:device_code",
      client_id,
      device_code,
    })
  const check = (as: TestUser, code: string) => {
    const body = { query: `user_code=${encodeURIComponent(code)}` }
    return call("POST", "/v1/me/authorization-requests", { as, body })
  }
  const allow = (as: TestUser, code: string, scopes: Scope[] = ["user:read"]) => {
    const body = { query: `user_code=${encodeURIComponent(code)}`, scopes }
    return call("POST", "/v1/me/authorizations", { as, body })
  }

  test("find the endpoints and get tokens when their user has entered the code", async () => {
    const ada = await addUser()
    const path = "/oauth/.well-known/openid-configuration"
    const { json: server } = await send("GET", path)
    expect(server).toMatchObject({
      issuer: `${testBaseUrl}/oauth`,
      device_authorization_endpoint: `${testBaseUrl}/oauth/device_authorization`,
      token_endpoint: `${testBaseUrl}/oauth/token`,
    })
    for (const name of scope.split(" ")) expect(server.scopes_supported).toContain(name)
    const { json: device } = await start()
    expect(device.user_code).toMatch(/^[B-Z]{4}-[B-Z]{4}$/)
    expect(device).toMatchObject({
      verification_uri: `${testBaseUrl}/oauth/device`,
      expires_in: 600,
      interval: 5,
    })
    expect((await poll(device.device_code)).json).toMatchObject({ error: "authorization_pending" })
    const asked = expectStatus(await check(ada, device.user_code.toLowerCase()), 200).json
    expect(asked).toMatchObject({ clientName: "hamlet or vt", refusal: null })
    expect(asked.redirectTarget).toContain(device.user_code)
    expect(asked.scopes).toEqual(["val:read", "val:write", "user:read", "run:read"])
    const allowed = expectStatus(await allow(ada, device.user_code, asked.scopes), 200).json
    expect(allowed.url).toBe(`${testBaseUrl}/oauth/device?connected`)
    const { json: tokens } = await poll(device.device_code)
    expect(tokens.access_token).toMatch(/^[\w-]{43}$/)
    expect((await call("GET", "/v1/me", { as: tokens.access_token })).json.id).toBe(ada.id)
    const refresh = { grant_type: "refresh_token", client_id, refresh_token: tokens.refresh_token }
    const { json: fresh } = await form("/oauth/token", refresh)
    expect(fresh.access_token).toMatch(/^[\w-]{43}$/)
    expect(fresh.refresh_token).not.toBe(tokens.refresh_token)
    const { items } = await suite.api.hamlet.stores.oauth.list(ada.id, 0, { limit: 9, offset: 0 })
    expect(items.map(({ clientName }) => clientName)).toEqual(["vt"])
    expect((await form("/oauth/revoke", { client_id, token: fresh.access_token })).status).toBe(200)
    expect((await call("GET", "/v1/me", { as: fresh.access_token })).status).toBe(401)
  })

  test("of our own command line get a token for a month, which its user can end", async () => {
    const ada = await addUser()
    const id = { client_id: "hamlet" }
    const { json: device } = await start(id)
    const asked = expectStatus(await check(ada, device.user_code), 200).json
    expect(asked.scopes).toContain("sqlite:write")
    expectStatus(await allow(ada, device.user_code, asked.scopes), 200)
    const grant_type = "urn:ietf:params:oauth:grant-type:device_code"
    const { device_code } = device
    const { json: tokens } = await form("/oauth/token", { ...id, grant_type, device_code })
    expect(tokens).toMatchObject({ expires_in: 30 * 86_400, scope: asked.scopes.join(" ") })
    setSystemTime(Date.now() + 29 * 86_400_000)
    expect((await call("GET", "/v1/me", { as: tokens.access_token })).json.id).toBe(ada.id)
    const { data } = (await call("GET", "/v1/me/authorizations", { as: ada })).json
    expect(data).toMatchObject([{ clientName: "hamlet" }])
    expectStatus(await call("DELETE", `/v1/me/authorizations/${data[0].id}`, { as: ada }), 204)
    expect((await call("GET", "/v1/me", { as: tokens.access_token })).status).toBe(401)
  })

  test("get tokens once, of the first user who allows it", async () => {
    const [ada, bob] = [await addUser(), await addUser()]
    const { json: device } = await start()
    expectStatus(await allow(ada, device.user_code), 200)
    expect(refusalOf(await allow(bob, device.user_code))).toEqual([400, "invalid_request"])
    expect(refusalOf(await check(bob, device.user_code))).toEqual([400, "invalid_request"])
    const { json: tokens } = await poll(device.device_code)
    expect((await poll(device.device_code)).json).toMatchObject({ error: "expired_token" })
    // A code that is used twice may have been stolen.
    expect((await call("GET", "/v1/me", { as: tokens.access_token })).status).toBe(401)
  })

  test("learn that their user has refused", async () => {
    const ada = await addUser()
    const { json: device } = await start()
    const refused = expectStatus(await allow(ada, device.user_code, []), 200).json
    expect(refused.url).toBe(`${testBaseUrl}/oauth/device?cancelled`)
    expect((await poll(device.device_code)).json).toMatchObject({ error: "access_denied" })
    expect(refusalOf(await allow(ada, device.user_code))).toEqual([400, "invalid_request"])
    expect((await poll(device.device_code)).json).toMatchObject({ error: "access_denied" })
    const { json } = await call("GET", "/v1/me/authorizations", { as: ada })
    expect(json.data).toEqual([])
    const client = await addOAuthClient(suite.api.hamlet)
    const body = { query: toAuthorizeQuery(client), scopes: [] }
    const other = await call("POST", "/v1/me/authorizations", { as: ada, body })
    expect(new URL(other.json.url).searchParams.get("error")).toBe("access_denied")
  })

  test("get no more than they asked for and their user has", async () => {
    const ada = await addUser()
    const { json: device } = await start({ client_id, scope: "user_r" })
    expect(refusalOf(await allow(ada, device.user_code, ["val:write"]))).toEqual([
      403,
      "scope_escalation",
    ])
    const { json: nothing } = await start({ client_id, scope: "val_rw" })
    expect((await check(ada, nothing.user_code)).json.refusal).not.toBeNull()
  })

  test("are refused after ten minutes", async () => {
    const ada = await addUser()
    const [{ json: early }, { json: late }] = [await start(), await start()]
    expectStatus(await allow(ada, late.user_code), 200)
    setSystemTime(Date.now() + 600_001)
    expect(refusalOf(await allow(ada, early.user_code))).toEqual([400, "invalid_request"])
    for (const { device_code } of [early, late])
      expect((await poll(device_code)).json).toMatchObject({ error: "expired_token" })
  })

  test("cannot be used by other clients or with wrong codes, and never fail", async () => {
    const ada = await addUser()
    for (const fields of [
      {},
      { client_id: "other" },
      { client_id, scope: "a".repeat(1_001) },
      { client_id, scope: "\u0000" },
    ] as Record<string, string>[])
      expect((await start(fields)).status).toBe(400)
    for (const code of ["", "\u0000", "BCDF", "'--", "x".repeat(7_000)])
      expect(refusalOf(await check(ada, code))).toEqual([400, "invalid_request"])
    expect((await poll("x")).json).toMatchObject({ error: "invalid_grant" })
    const revoked = await form("/oauth/revoke", { client_id: "\u0000", token: "\u0000" })
    expect(revoked.status).toBeLessThan(500)
    // The code of a program with a browser is not that of a device.
    const client = await addOAuthClient(suite.api.hamlet)
    const body = { query: toAuthorizeQuery(client), scopes: ["val:read"] }
    const { json } = await call("POST", "/v1/me/authorizations", { as: ada, body })
    const code = new URL(json.url).searchParams.get("code") ?? ""
    expect((await poll(code)).json).toMatchObject({ error: "expired_token" })
  })
}

function defineRegistration(suite: ApiSuite): void {
  const { send, register } = createSender(suite)
  afterEach(() => void setSystemTime())

  test("tell a client without a token where to get one", async () => {
    for (const path of ["/mcp", "/v3/mcp"]) {
      const refused = await send("POST", path, { body: "{}" })
      expect(refused.status).toBe(401)
      const [, url = ""] =
        /resource_metadata="([^"]+)"/.exec(refused.headers.get("www-authenticate") ?? "") ?? []
      const resource = await send("GET", url.slice(testBaseUrl.length))
      expect(resource.json).toMatchObject({
        resource: `${testBaseUrl}${path}`,
        authorization_servers: [testBaseUrl],
      })
    }
    const server = await send("GET", "/.well-known/oauth-authorization-server")
    expect(server.json).toMatchObject({
      issuer: testBaseUrl,
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["none"],
    })
    for (const scope of ["admin", "backup", "user:write"])
      expect(server.json.scopes_supported).not.toContain(scope)
  })

  test("accept redirects to https, to this machine and to apps, and no others", async () => {
    for (const uri of [
      "https://client.invalid/cb?x=1",
      "http://localhost:7777/cb",
      "http://127.0.0.1/cb",
      "http://[::1]:1/",
      "cursor://callback/x",
      "com.example.app:/cb",
    ])
      expect((await register({ redirect_uris: [uri] })).status, uri).toBe(201)
    for (const uri of [
      "http://client.invalid/cb",
      "http://localhost.evil.test/",
      "http://127.0.0.1.evil.test/",
      "https://user@client.invalid/",
      "https://client.invalid/#x",
      "javascript:alert(1)",
      "JAVASCRIPT:alert(1)",
      " javascript:alert(1)",
      "data:text/html,x",
      "file:///etc/passwd",
      "intent://x#Intent;end",
      "/callback",
      "",
      "https://client.invalid/\u0000",
      `https://client.invalid/${"x".repeat(2_000)}`,
      1,
      null,
    ])
      expect((await register({ redirect_uris: [uri] })).json.error, String(uri)).toBe(
        "invalid_redirect_uri",
      )
  })

  test("refuse what is no metadata, and never fail", async () => {
    const uris = { redirect_uris: [redirectUri] }
    for (const body of [
      "",
      "{",
      "[]",
      "null",
      {},
      { redirect_uris: [] },
      { redirect_uris: Array.from({ length: 11 }, () => redirectUri) },
      { ...uris, grant_types: ["implicit"] },
      { ...uris, response_types: ["token"] },
    ])
      expect((await register(body)).status, JSON.stringify(body)).toBe(400)
    const named = await register({
      ...uris,
      client_name: `a\u202e\n\u0000b${"x".repeat(500)}\ud800`,
    })
    expect(named.json.client_name).toStartWith("a bxxx")
    expect(named.json.client_name.length).toBeLessThanOrEqual(100)
    expect(named.json.token_endpoint_auth_method).toBe("none")
    expect((await register({ ...uris, client_name: {} })).json.client_name).toBe(
      "An unnamed program",
    )
    expect((await register("x".repeat(100_000))).status).toBe(413)
    expect((await send("GET", "/oauth/register")).status).toBe(405)
  })

  test("limit how many clients an address registers", async () => {
    const body = JSON.stringify({ redirect_uris: [redirectUri] })
    const statuses = new Set<number>()
    // The limit refills with time.
    setSystemTime(new Date())
    for (let count = 0; count < 21; count++) {
      const request = new Request(`${testBaseUrl}/oauth/register`, { method: "POST", body })
      statuses.add(
        (await suite.api.hamlet.app.fetch(request, { address: () => "10.9.9.9" })).status,
      )
    }
    expect([...statuses]).toEqual([201, 429])
  })
}

test("OAuth: the official client connects by the address alone, and uses its tokens", async () => {
  // The client sends tokens to https or to this machine only.
  const baseUrl = "http://localhost:8080"
  const api = await openApi(undefined, { HAMLET_BASE_URL: baseUrl })
  try {
    const ada = await api.addUser("ada")
    const provider = createProvider()
    const fetchFn = (url: string | URL, init?: RequestInit) => api.hamlet.app.request(url, init)
    const options = { serverUrl: `${baseUrl}/mcp`, fetchFn }
    expect(await auth(provider, options)).toBe("REDIRECT")
    const asked = provider.asked()
    expect(asked.origin + asked.pathname).toBe(`${baseUrl}/oauth/authorize`)
    const body = { query: asked.search.slice(1), scopes: ["val:read", "val:write"] }
    const allowed = await api.call("POST", "/v1/me/authorizations", { as: ada, body })
    const { searchParams } = new URL(expectStatus(allowed, 200).json.url)
    expect(searchParams.get("iss")).toBe(baseUrl)
    expect(searchParams.get("state")).toBe("the state")
    const authorizationCode = searchParams.get("code") ?? ""
    expect(await auth(provider, { ...options, authorizationCode, iss: baseUrl })).toBe("AUTHORIZED")
    const { tool } = await connectMcp(api, provider.stored()?.access_token ?? "", { baseUrl })
    expect((await tool("create_val", { name: "made", code: "1" })).data.version).toBe(1)
    const before = provider.stored()?.refresh_token
    expect(await auth(provider, options)).toBe("AUTHORIZED")
    expect(provider.stored()?.refresh_token).not.toBe(before)
  } finally {
    await api.close()
  }
})

function createProvider(): OAuthClientProvider & {
  asked(): URL
  stored(): OAuthTokens | undefined
} {
  let client: OAuthClientInformationMixed | undefined
  let tokens: OAuthTokens | undefined
  let discovered: OAuthDiscoveryState | undefined
  let kept = ""
  let url: URL | undefined
  return {
    redirectUrl: redirectUri,
    clientMetadata: { client_name: "Official", redirect_uris: [redirectUri] },
    state: () => "the state",
    clientInformation: () => client,
    saveClientInformation(saved) {
      client = saved
    },
    tokens: () => tokens,
    stored: () => tokens,
    saveTokens(saved) {
      tokens = saved
    },
    redirectToAuthorization(to) {
      url = to
    },
    saveCodeVerifier(saved) {
      kept = saved
    },
    codeVerifier: () => kept,
    saveDiscoveryState(saved) {
      discovered = saved
    },
    discoveryState: () => discovered,
    asked: () => url ?? new URL("about:blank"),
  }
}

function defineConsent(suite: ApiSuite): void {
  const { call, addUser: person } = suite
  const check = (as: TestUser | undefined, query: string) =>
    call("POST", "/v1/me/authorization-requests", { as, body: { query } })
  const allow = (as: TestUser | undefined, query: string, scopes: Scope[] = ["val:read"]) =>
    call("POST", "/v1/me/authorizations", { as, body: { query, scopes } })

  test("shows who asks, where the browser goes, and what can be allowed", async () => {
    const ada = await person()
    const client = await addOAuthClient(suite.api.hamlet)
    const { json } = expectStatus(await check(ada, toAuthorizeQuery(client)), 200)
    expect(json).toMatchObject({
      clientName: "Robot",
      redirectTarget: "client.invalid",
      isLocal: false,
      refusal: null,
    })
    for (const scope of ["admin", "backup", "user:write"]) expect(json.scopes).not.toContain(scope)
    expect(json.denyUrl).toStartWith(`${redirectUri}?error=access_denied&state=a+state&iss=`)
    const few = await check(ada, toAuthorizeQuery(client, { scope: "val:read admin nonsense" }))
    expect(few.json.scopes).toEqual(["val:read"])
    for (const [scope, scopes] of [
      ["openid offline_access project_rw", ["val:read", "val:write"]],
      ["project_r user_r telemetry_r", ["val:read", "user:read", "run:read"]],
      ["blob_rw", ["blob:read", "blob:write"]],
      ["sqlite_rw email_rw", ["sqlite:read", "sqlite:write", "email:write"]],
      ["val_rw val_r", []],
    ] as const)
      expect((await check(ada, toAuthorizeQuery(client, { scope }))).json.scopes).toEqual([
        ...scopes,
      ])
  })

  test("never sends the browser to an address that is not registered", async () => {
    const ada = await person()
    const client = await addOAuthClient(suite.api.hamlet)
    for (const redirect_uri of [
      "https://evil.test/callback",
      `${redirectUri}/`,
      `${redirectUri}?x=1`,
      `${redirectUri}#x`,
      `${redirectUri}/../x`,
      "https://client.invalid:444/callback",
      "https://CLIENT.invalid/callback",
      "javascript:alert(1)",
      "",
    ])
      for (const answer of [
        await check(ada, toAuthorizeQuery(client, { redirect_uri })),
        await allow(ada, toAuthorizeQuery(client, { redirect_uri })),
      ])
        expect(refusalOf(answer), redirect_uri).toEqual([400, "invalid_request"])
    for (const client_id of ["", "x", "01890000-0000-7000-8000-000000000000"])
      expect(refusalOf(await check(ada, toAuthorizeQuery(client, { client_id })))).toEqual([
        400,
        "invalid_request",
      ])
    const twice = `${toAuthorizeQuery(client)}&redirect_uri=https%3A%2F%2Fevil.test%2F`
    expect(refusalOf(await check(ada, twice))).toEqual([400, "invalid_request"])
  })

  test("lets an app on this machine choose its port, and nothing else", async () => {
    const ada = await person()
    const { register } = createSender(suite)
    const { json } = await register({ redirect_uris: ["http://127.0.0.1:1/cb"] })
    const at = (redirect_uri: string) =>
      check(ada, toAuthorizeQuery({ id: json.client_id }, { redirect_uri }))
    expect((await at("http://127.0.0.1:54321/cb")).json).toMatchObject({
      isLocal: true,
      redirectTarget: "127.0.0.1:54321",
    })
    for (const uri of [
      "http://localhost:1/cb",
      "http://127.0.0.1:1/other",
      "https://127.0.0.1:1/cb",
      "http://127.0.0.1:1/cb?x",
    ])
      expect((await at(uri)).status, uri).toBe(400)
  })

  test("is refused when the client is deleted meanwhile", async () => {
    const { hamlet } = suite.api
    const { oauth } = hamlet.stores
    const { clock } = hamlet.nouns
    const { id: userId, username } = await suite.addUser()
    const client = await addOAuthClient(hamlet)
    const caller = {
      actorId: userId,
      actorName: username,
      ownerName: username,
      ...asOwner(userId),
      tokenId: "",
      scopes: new Set<Scope>(["val:read"]),
    }
    const findClient = async (id: string) => {
      const found = await oauth.findClient(id)
      // A registration a day later removes the client.
      await oauth.addClient({ ...client, id: clock.newId() }, clock.now() + 1, 10_000)
      return found
    }
    const racing = createAuthorizations({ ...oauth, findClient }, testBaseUrl, clock)
    const allowing = racing.allow(caller, toAuthorizeQuery(client), ["val:read"])
    expect(await allowing.catch((error) => error.code)).toBe("invalid_request")
  })

  test("tells the client about other mistakes, and allows nothing then", async () => {
    const ada = await person()
    const client = await addOAuthClient(suite.api.hamlet)
    const cases: [Record<string, string | undefined>, string][] = [
      [{ response_type: "token" }, "unsupported_response_type"],
      [{ code_challenge: undefined }, "invalid_request"],
      [{ code_challenge_method: "plain" }, "invalid_request"],
      [{ code_challenge_method: undefined }, "invalid_request"],
      [{ code_challenge: "short" }, "invalid_request"],
      [{ resource: "https://evil.test/mcp" }, "invalid_target"],
      [{ scope: "admin" }, "invalid_scope"],
    ]
    for (const [fields, error] of cases) {
      const query = toAuthorizeQuery(client, fields)
      const { refusal } = expectStatus(await check(ada, query), 200).json
      expect(refusal.url, JSON.stringify(fields)).toStartWith(`${redirectUri}?error=${error}&`)
      expect((await allow(ada, query)).status).toBeGreaterThanOrEqual(400)
    }
    const fine = toAuthorizeQuery(client, { resource: `${testBaseUrl}/mcp` })
    expectStatus(await allow(ada, fine), 200)
    expect(refusalOf(await allow(ada, fine, ["admin"]))).toEqual([403, "scope_escalation"])
    expect(refusalOf(await allow(undefined, fine))).toEqual([401, "unauthenticated"])
  })
}

function defineTokens(suite: ApiSuite): void {
  const { call, addUser: person } = suite
  const { form } = createSender(suite)
  const server = () => suite.api.hamlet
  const refused = { status: 400, json: { error: "invalid_grant" } }
  const getCode = async (user: TestUser, clientId: string) => {
    const body = { query: toAuthorizeQuery({ id: clientId }), scopes: ["val:read"] }
    const { json } = expectStatus(
      await call("POST", "/v1/me/authorizations", { as: user, body }),
      200,
    )
    return new URL(json.url).searchParams.get("code") ?? ""
  }
  const exchange = (client_id: string, code: string, more: Record<string, string> = {}) =>
    form("/oauth/token", {
      grant_type: "authorization_code",
      client_id,
      code,
      code_verifier: verifier,
      ...more,
    })
  const refresh = (client_id: string, refresh_token: string) =>
    form("/oauth/token", { grant_type: "refresh_token", client_id, refresh_token })
  const works = async (token: string) =>
    (await call("GET", "/v1/me/vals", { as: token })).status === 200

  test("a code works once, for its client and its verifier", async () => {
    const ada = await person()
    const [client, other] = [await addOAuthClient(server()), await addOAuthClient(server())]
    const code = await getCode(ada, client.id)
    expect(await exchange(other.id, code)).toMatchObject(refused)
    expect(await exchange(client.id, code, { code_verifier: "x".repeat(43) })).toMatchObject(
      refused,
    )
    expect(await exchange(client.id, code, { redirect_uri: "https://evil.test/" })).toMatchObject(
      refused,
    )
    expect(await exchange(client.id, `${code}x`)).toMatchObject(refused)
    expect((await exchange(client.id, code, { resource: "https://evil.test" })).json.error).toBe(
      "invalid_target",
    )
    const good = await exchange(client.id, code, { redirect_uri: redirectUri })
    expect(good.json).toMatchObject({ token_type: "Bearer", expires_in: 3600, scope: "val:read" })
    expect(good.headers.get("cache-control")).toBe("no-store")
    expect(await works(good.json.access_token)).toBe(true)
    // A second use means that the code has leaked: what the first one got ends.
    expect(await exchange(client.id, code)).toMatchObject(refused)
    expect(await works(good.json.access_token)).toBe(false)
    expect(await refresh(client.id, good.json.refresh_token)).toMatchObject(refused)
  })

  test("of concurrent uses of a code at most one succeeds, and its tokens end", async () => {
    const ada = await person()
    const client = await addOAuthClient(server())
    const code = await getCode(ada, client.id)
    const answers = await Promise.all([1, 2, 3, 4].map(() => exchange(client.id, code)))
    const good = answers.filter(({ status }) => status === 200)
    expect(good).toHaveLength(1)
    expect(await works(good[0]?.json.access_token)).toBe(false)
  })

  test("a refresh token is replaced by each use, and its second use ends everything", async () => {
    const ada = await person()
    const { client, pair } = await addAuthorization(server(), ada)
    const other = await addOAuthClient(server())
    expect(await refresh(other.id, pair.refreshToken)).toMatchObject(refused)
    expect(await refresh(client.id, pair.accessToken)).toMatchObject(refused)
    const second = (await refresh(client.id, pair.refreshToken)).json
    const third = (await refresh(client.id, second.refresh_token)).json
    expect(await works(third.access_token)).toBe(true)
    expect(await refresh(client.id, pair.refreshToken)).toMatchObject(refused)
    for (const token of [pair.accessToken, second.access_token, third.access_token])
      expect(await works(token)).toBe(false)
    expect(await refresh(client.id, third.refresh_token)).toMatchObject(refused)
    expect((await call("GET", "/v1/me/authorizations", { as: ada })).json.data).toEqual([])
  })

  test("access tokens have the allowed scopes, are no tokens of the list, and cannot grow", async () => {
    const ada = await person()
    const { pair } = await addAuthorization(server(), ada)
    const as = pair.accessToken
    expect(refusalOf(await call("POST", "/v1/vals", { as, body: { code: "1" } }))).toEqual([
      403,
      "missing_scope",
    ])
    expect(
      refusalOf(
        await call("POST", "/v1/me/tokens", { as, body: { name: "x", scopes: ["val:read"] } }),
      ),
    ).toEqual([403, "missing_scope"])
    const { json } = await call("GET", "/v1/me/tokens", { as: ada })
    expect(json.data.map(({ name }: { name: string }) => name)).not.toContain("Robot")
  })

  test("a client revokes its own tokens and no others", async () => {
    const [ada, bob] = [await person(), await person()]
    const mine = await addAuthorization(server(), ada)
    const others = await addAuthorization(server(), bob)
    const revoke = (token: string, client_id = mine.client.id) =>
      form("/oauth/revoke", { token, client_id })
    for (const token of [others.pair.refreshToken, others.pair.accessToken, ada.token, "x"])
      expect((await revoke(token)).status).toBe(200)
    expect((await revoke(mine.pair.accessToken, "not-an-id")).status).toBe(200)
    for (const token of [others.pair.accessToken, mine.pair.accessToken, ada.token])
      expect(await works(token)).toBe(true)
    expect((await revoke(mine.pair.accessToken)).status).toBe(200)
    expect(await works(mine.pair.accessToken)).toBe(false)
    expect(await refresh(mine.client.id, mine.pair.refreshToken)).toMatchObject(refused)
  })

  test("a suspended or deleted user gets no new tokens", async () => {
    const { admin } = suite.api
    const ada = await person()
    const { client, pair } = await addAuthorization(server(), ada)
    const code = await getCode(ada, client.id)
    expectStatus(await call("PUT", `/v1/users/${ada.id}/suspension`, { as: admin, body: {} }), 204)
    expect(await works(pair.accessToken)).toBe(false)
    expect(await refresh(client.id, pair.refreshToken)).toMatchObject(refused)
    expect(await exchange(client.id, code)).toMatchObject(refused)
    expectStatus(await call("DELETE", `/v1/users/${ada.id}`, { as: admin }), 204)
    expect((await server().stores.oauth.list(ada.id, 0, { limit: 9, offset: 0 })).items).toEqual([])
  })

  test("the token endpoint refuses malformed requests, and never fails", async () => {
    const { send } = createSender(suite)
    const fields: Record<string, string>[] = [
      {},
      { grant_type: "password" },
      { grant_type: "authorization_code" },
      { grant_type: "refresh_token", client_id: "\u0000", refresh_token: "\u0000" },
      {
        grant_type: "authorization_code",
        client_id: "x",
        code: "x".repeat(60_000),
        code_verifier: "",
      },
    ]
    for (const one of fields) expect((await form("/oauth/token", one)).status).toBe(400)
    expect((await form("/oauth/revoke", {})).status).toBe(400)
    const headers = { "content-type": "application/x-www-form-urlencoded" }
    const twice = await send("POST", "/oauth/token", { headers, body: "grant_type=a&grant_type=b" })
    expect(twice.json).toMatchObject({ error: "invalid_request" })
    const json = await send("POST", "/oauth/token", {
      headers: { "content-type": "application/json" },
      body: "{}",
    })
    expect(json.status).toBe(400)
    expect((await send("POST", "/oauth/token", { headers, body: "%ff%00=%e0&=" })).status).toBe(400)
  })
}
