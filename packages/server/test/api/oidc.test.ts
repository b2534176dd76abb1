import { afterAll, afterEach, beforeEach, describe, expect, setSystemTime, test } from "bun:test"
import { followSignIn, openOidcProvider } from "../../../../scripts/testing/oidc-provider.ts"
import { asOwner } from "../../src/domain/access/rights.ts"
import { createProviderSignIn } from "../../src/domain/identities/provider-sign-in.ts"
import { createSignInAttempts } from "../../src/domain/identities/sign-in-state.ts"
import type { SignUpPolicy } from "../../src/domain/identities/sign-up-policy.ts"
import { expectStatus, type TestResponse, type TestUser } from "../support/api.ts"
import { dumpDatabase } from "./dump.ts"
import { type ApiSuite, describeApi, refusalOf } from "./suite.ts"

const provider = await openOidcProvider()
afterAll(() => provider[Symbol.asyncDispose]())

const ownPage = { "x-hamlet-session": "1" }
const minuteMs = 60_000

describeApi(
  "api/oidc",
  (suite) => {
    let people = 0
    const setPolicy = (policy: Partial<SignUpPolicy>) =>
      Object.assign(suite.api.hamlet.parts.foundation.config.oidc ?? {}, {
        signUp: "all",
        domains: [],
        linksByEmail: false,
        ...policy,
      })
    beforeEach(() => {
      people += 1
      provider.account = `someone${people}`
      setPolicy({})
    })
    afterEach(() => void setSystemTime())
    describe("a first sign-in", () => defineSignUp(suite, setPolicy))
    describe("a later sign-in", () => defineSignIn(suite))
    describe("a response", () => defineResponses(suite))
    describe("an email address", () => defineEmails(suite, setPolicy))
    describe("/v1/me/identities", () => defineLinks(suite))
  },
  provider.env,
)

describeApi("api/oidc without a provider", (suite) => {
  test("refuses every step with 501", async () => {
    const body = { attempt: "x", response: "x" }
    const ada = await suite.addUser()
    for (const [path, given] of [
      ["/v1/oidc/sign-ins", undefined],
      ["/v1/oidc/sessions", body],
      ["/v1/oidc/users", { ticket: "x", username: "ada" }],
    ] as const)
      expect(refusalOf(await suite.call("POST", path, { body: given, headers: ownPage }))).toEqual([
        501,
        "oidc_unavailable",
      ])
    expect(refusalOf(await suite.call("POST", "/v1/me/identities", { as: ada, body }))).toEqual([
      501,
      "oidc_unavailable",
    ])
  })
})

interface Visit {
  readonly attempt: string
  readonly response: string
}

/** Begins a sign-in and visits the provider. */
async function visit(suite: ApiSuite): Promise<Visit> {
  const { url, attempt } = expectStatus(
    await suite.call("POST", "/v1/oidc/sign-ins", { headers: ownPage }),
    200,
  ).json
  const back = new URL(await followSignIn(url))
  return { attempt, response: back.search.slice(1) }
}

function finish(suite: ApiSuite, body: Visit): Promise<TestResponse> {
  return suite.call("POST", "/v1/oidc/sessions", { body, headers: ownPage })
}

function signUp(suite: ApiSuite, body: object): Promise<TestResponse> {
  return suite.call("POST", "/v1/oidc/users", { body, headers: ownPage })
}

/** A visit and a new account. Returns the response to the sign-up. */
async function join(suite: ApiSuite, username: string): Promise<TestResponse> {
  const { json } = expectStatus(await finish(suite, await visit(suite)), 200)
  return expectStatus(await signUp(suite, { ticket: json.signUp.ticket, username }), 200)
}

/** The user of the session that a response has started. */
async function whoIs(suite: ApiSuite, { headers }: TestResponse, pageKey: string) {
  const cookie = (headers.get("set-cookie") ?? "").split(";", 1)[0] ?? ""
  const me = await suite.call("GET", "/v1/me", {
    headers: { cookie, "x-hamlet-session": pageKey },
  })
  return expectStatus(me, 200).json
}

function invite({ api }: ApiSuite) {
  const { id: userId, username } = api.admin
  const caller = {
    actorId: userId,
    actorName: username,
    ownerName: username,
    ...asOwner(userId),
    tokenId: "",
    scopes: new Set<never>(),
  }
  return api.hamlet.nouns.invitations.create(caller, { note: null, hours: undefined })
}

type SetPolicy = (policy: Partial<SignUpPolicy>) => void

function defineSignUp(suite: ApiSuite, setPolicy: SetPolicy) {
  test("asks for a name, and creates the user with a confirmed address and a session", async () => {
    const { account } = provider
    const finished = expectStatus(await finish(suite, await visit(suite)), 200)
    expect(finished.headers.get("set-cookie")).toBeNull()
    expect(finished.json).toEqual({
      session: null,
      signUp: {
        ticket: expect.any(String),
        username: account,
        email: `${account}@corp.example`,
        needsInvitation: false,
      },
    })
    const { ticket } = finished.json.signUp
    expect(refusalOf(await signUp(suite, { ticket, username: "admin" }))).toEqual([
      409,
      "username_taken",
    ])
    const created = expectStatus(await signUp(suite, { ticket, username: `${account}_x` }), 200)
    expect(await whoIs(suite, created, created.json.pageKey)).toMatchObject({
      username: `${account}_x`,
      email: `${account}@corp.example`,
      emailVerified: true,
    })
    expect(refusalOf(await signUp(suite, { ticket, username: `${account}_y` }))).toEqual([
      409,
      "identity_taken",
    ])
    expect((await suite.call("GET", `/v1/alias/${account}_y`)).status).toBe(404)
    const { json: audit } = await suite.call("GET", "/v1/audit?action=user.sign_up&limit=1", {
      as: suite.api.admin,
    })
    expect(audit.data[0]).toMatchObject({
      actor: { username: `${account}_x` },
      details: { issuer: provider.issuer },
    })
  })

  test("has the scopes of a user who is no administrator", async () => {
    const created = await join(suite, `${provider.account}_z`)
    const cookie = (created.headers.get("set-cookie") ?? "").split(";", 1)[0] ?? ""
    const headers = { cookie, "x-hamlet-session": created.json.pageKey }
    expect(refusalOf(await suite.call("GET", "/v1/users", { headers }))).toEqual([
      403,
      "missing_scope",
    ])
    expectStatus(await suite.call("GET", "/v1/me/secrets", { headers }), 200)
  })

  test("keeps an address unconfirmed that the provider has not verified", async () => {
    provider.account = "unverified"
    const created = await join(suite, "not_verified")
    expect(await whoIs(suite, created, created.json.pageKey)).toMatchObject({
      emailVerified: false,
    })
  })

  test("needs an invitation if the operator wants it, which works once", async () => {
    setPolicy({ signUp: "invited", domains: ["example.com"] })
    const { account } = provider
    const { json } = expectStatus(await finish(suite, await visit(suite)), 200)
    expect(json.signUp.needsInvitation).toBe(true)
    const { ticket } = json.signUp
    const refused = await signUp(suite, { ticket, username: account })
    expect(refusalOf(refused)).toEqual([403, "sign_up_refused"])
    const { code } = await invite(suite)
    for (const invitation of ["x", `${code.slice(0, -1)}${code.endsWith("0") ? "1" : "0"}`])
      expect(refusalOf(await signUp(suite, { ticket, username: account, invitation }))).toEqual([
        404,
        "invitation_not_found",
      ])
    const taken = await signUp(suite, { ticket, username: "admin", invitation: code })
    expect(refusalOf(taken)).toEqual([409, "username_taken"])
    expectStatus(await signUp(suite, { ticket, username: account, invitation: code }), 200)
    provider.account = `${account}_again`
    const other = (await finish(suite, await visit(suite))).json.signUp.ticket
    const reused = await signUp(suite, { ticket: other, username: "x", invitation: code })
    expect(refusalOf(reused)).toEqual([404, "invitation_not_found"])
  })

  test("needs no invitation with a verified address of a domain of the operator", async () => {
    setPolicy({ signUp: "none", domains: ["corp.example"] })
    expect((await finish(suite, await visit(suite))).json.signUp.needsInvitation).toBe(false)
    setPolicy({ signUp: "none", domains: ["orp.example", "example"] })
    expect(refusalOf(await finish(suite, await visit(suite)))).toEqual([403, "sign_up_refused"])
    provider.account = "unverified_domain"
    setPolicy({ signUp: "none", domains: ["corp.example"] })
    expect(refusalOf(await finish(suite, await visit(suite)))).toEqual([403, "sign_up_refused"])
  })

  test("accepts a ticket for half an hour, and none of another kind", async () => {
    const began = await visit(suite)
    const { ticket } = (await finish(suite, began)).json.signUp
    for (const wrong of ["x", "x.y", began.attempt, `${ticket}A`.slice(1)])
      expect(refusalOf(await signUp(suite, { ticket: wrong, username: "x" }))).toEqual([
        422,
        "sign_in_refused",
      ])
    setSystemTime(Date.now() + 31 * minuteMs)
    expect(refusalOf(await signUp(suite, { ticket, username: "x" }))).toEqual([
      422,
      "sign_in_refused",
    ])
  })
}

function defineSignIn(suite: ApiSuite) {
  test("signs the same person in, and nobody else", async () => {
    const { account } = provider
    await join(suite, `${account}_a`)
    const again = expectStatus(await finish(suite, await visit(suite)), 200)
    expect(again.json.signUp).toBeNull()
    expect(again.json.session).toMatchObject({ current: true })
    expect(await whoIs(suite, again, again.json.session.pageKey)).toMatchObject({
      username: `${account}_a`,
    })
    provider.account = account.toUpperCase()
    expect((await finish(suite, await visit(suite))).json.session).toBeNull()
  })

  test("is refused while the user is suspended, and finds a deleted user no more", async () => {
    const { account } = provider
    const created = await join(suite, `${account}_s`)
    const { id } = await whoIs(suite, created, created.json.pageKey)
    const as = suite.api.admin
    await suite.call("PUT", `/v1/users/${id}/suspension`, { as, body: {} })
    expect(refusalOf(await finish(suite, await visit(suite)))).toEqual([403, "user_suspended"])
    await suite.call("DELETE", `/v1/users/${id}/suspension`, { as })
    expectStatus(await finish(suite, await visit(suite)), 200)
    expectStatus(await suite.call("DELETE", `/v1/users/${id}?data=keep`, { as }), 204)
    expect((await finish(suite, await visit(suite))).json.signUp).not.toBeNull()
  })

  test("stores neither code nor token of the provider", async () => {
    const began = await visit(suite)
    await finish(suite, began)
    const code = new URLSearchParams(began.response).get("code") ?? "none"
    const dump = await dumpDatabase(suite.database)
    expect(dump).not.toContain(code)
    expect(dump).not.toContain(new URLSearchParams(began.response).get("state") ?? "none")
  })
}

function defineResponses(suite: ApiSuite) {
  test("works once", async () => {
    await join(suite, `${provider.account}_once`)
    const began = await visit(suite)
    expectStatus(await finish(suite, began), 200)
    expect(refusalOf(await finish(suite, began))).toEqual([422, "sign_in_refused"])
  })

  test("works once even if the provider accepts its code again", async () => {
    const key = { issuer: provider.issuer, subject: "replayed" }
    const { nouns, stores, parts } = suite.api.hamlet
    const profile = { email: null, isEmailVerified: false, username: null }
    const checks = { state: crypto.randomUUID(), nonce: "", verifier: "" }
    const lenient = {
      begin: async () => ({ url: "", checks }),
      finish: async () => ({ ...key, readProfile: async () => profile }),
    }
    const attempts = createSignInAttempts(lenient, parts.cipher, nouns.clock)
    const signIn = createProviderSignIn(
      stores.identities,
      attempts,
      { signUp: "all", domains: [], linksByEmail: false },
      nouns.sessions,
      nouns.users,
      nouns.clock,
    )
    const { attempt } = await signIn.start()
    const send = () =>
      signIn.finish({ attempt, response: "code=x" }, { userAgent: null, replaced: undefined })
    expect(await send()).toMatchObject({ needsInvitation: false })
    await expect(send()).rejects.toMatchObject({ code: "sign_in_refused" })
  })

  test("belongs to the attempt that began it", async () => {
    const [mine, attackers] = [await visit(suite), await visit(suite)]
    const mixed = await finish(suite, { attempt: mine.attempt, response: attackers.response })
    expect(refusalOf(mixed)).toEqual([422, "sign_in_refused"])
    const forged = {
      attempt: mine.attempt,
      response: mine.response.replace(/code=[^&]+/, "code=x"),
    }
    expect(refusalOf(await finish(suite, forged))).toEqual([422, "sign_in_refused"])
    expectStatus(await finish(suite, mine), 200)
  })

  test("is refused after 15 minutes, or when the person has cancelled", async () => {
    const late = await visit(suite)
    setSystemTime(Date.now() + 16 * minuteMs)
    expect(refusalOf(await finish(suite, late))).toEqual([422, "sign_in_refused"])
    setSystemTime()
    provider.account = "deny"
    const cancelled = await finish(suite, await visit(suite))
    expect(refusalOf(cancelled)).toEqual([422, "sign_in_refused"])
    expect(cancelled.json.message).toContain("(access_denied)")
    expect(cancelled.text).not.toContain("<b>")
  })

  test("of an error does not repeat what the address says", async () => {
    const { url, attempt } = (await suite.call("POST", "/v1/oidc/sign-ins", { headers: ownPage }))
      .json
    const state = new URL(url).searchParams.get("state")
    const iss = encodeURIComponent(provider.issuer)
    const response = `error=%3Cscript%3E&error_description=call+0900&state=${state}&iss=${iss}`
    const { json, text } = await finish(suite, { attempt, response })
    expect(json.code).toBe("sign_in_refused")
    expect(text).not.toMatch(/script|0900/)
  })

  test("is accepted from a page of this server only", async () => {
    const began = await visit(suite)
    for (const [path, body] of [
      ["/v1/oidc/sign-ins", undefined],
      ["/v1/oidc/sessions", began],
      ["/v1/oidc/users", { ticket: "x", username: "x" }],
    ] as const)
      for (const headers of [{}, { ...ownPage, "sec-fetch-site": "cross-site" }])
        expect(refusalOf(await suite.call("POST", path, { body, headers }))).toEqual([
          403,
          "cross_site_request",
        ])
    expectStatus(await finish(suite, began), 200)
  })

  test("begins with PKCE, a state, a nonce and the configured address", async () => {
    const began = await suite.call("POST", "/v1/oidc/sign-ins", { headers: ownPage })
    const { origin, searchParams } = new URL(began.json.url)
    expect(origin).toBe(provider.issuer)
    expect(Object.fromEntries(searchParams)).toMatchObject({
      client_id: "hamlet",
      response_type: "code",
      redirect_uri: "http://hamlet.test/sign-in/provider",
      code_challenge_method: "S256",
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    })
    // What the page keeps reveals none of it.
    expect(began.json.attempt).not.toContain(searchParams.get("state") ?? "")
  })
}

function defineEmails(suite: ApiSuite, setPolicy: SetPolicy) {
  const confirm = (who: TestUser, email: string) => {
    const { id: userId, username } = who
    const caller = {
      actorId: userId,
      actorName: username,
      ownerName: username,
      ...asOwner(userId),
      tokenId: "",
      scopes: new Set(["admin"] as const),
    }
    return suite.api.hamlet.nouns.users.updateMe(caller, { email })
  }

  test("signs nobody in by default", async () => {
    const ada = await suite.addUser()
    await confirm(ada, `${provider.account}@corp.example`)
    expect((await finish(suite, await visit(suite))).json.session).toBeNull()
  })

  test("signs in the user who has confirmed it, without administrative scopes", async () => {
    setPolicy({ linksByEmail: true, signUp: "none" })
    const ada = await suite.addUser()
    await confirm(ada, `${provider.account.toUpperCase()}@corp.example`)
    const first = expectStatus(await finish(suite, await visit(suite)), 200)
    expect(await whoIs(suite, first, first.json.session.pageKey)).toMatchObject({ id: ada.id })
    const { json } = await suite.call("GET", "/v1/me/identities", { as: ada })
    expect(json.data).toHaveLength(1)
    setPolicy({ signUp: "none" })
    const second = expectStatus(await finish(suite, await visit(suite)), 200)
    expect(await whoIs(suite, second, second.json.session.pageKey)).toMatchObject({ id: ada.id })
  })

  test("signs nobody in that one side has not verified, or that two users have", async () => {
    setPolicy({ linksByEmail: true, signUp: "none" })
    const refused = async () =>
      expect(refusalOf(await finish(suite, await visit(suite)))).toEqual([403, "sign_up_refused"])
    const [ada, bob] = [await suite.addUser(), await suite.addUser()]
    const email = `${provider.account}@corp.example`
    await suite.call("PUT", "/v1/me", { as: ada, body: { email } })
    await refused()
    await confirm(ada, email)
    await confirm(bob, email)
    await refused()
    await confirm(bob, "bob@corp.example")
    await suite.call("PUT", `/v1/users/${ada.id}/suspension`, { as: suite.api.admin, body: {} })
    await refused()
    provider.account = "unverified_eve"
    await confirm(await suite.addUser(), "unverified_eve@corp.example")
    await refused()
  })
}

function defineLinks(suite: ApiSuite) {
  const link = async (as: TestUser) =>
    suite.call("POST", "/v1/me/identities", { as, body: await visit(suite) })

  test("links a person, who signs in with the scopes of the caller, and unlinks", async () => {
    const { admin } = suite.api
    const linked = expectStatus(await link(admin), 200).json
    expect(linked).toMatchObject({
      issuer: provider.issuer,
      email: `${provider.account}@corp.example`,
    })
    const signedIn = expectStatus(await finish(suite, await visit(suite)), 200)
    const { pageKey } = signedIn.json.session
    expect(await whoIs(suite, signedIn, pageKey)).toMatchObject({ username: "admin" })
    const cookie = (signedIn.headers.get("set-cookie") ?? "").split(";", 1)[0] ?? ""
    expectStatus(
      await suite.call("GET", "/v1/users", { headers: { cookie, "x-hamlet-session": pageKey } }),
      200,
    )
    expect(expectStatus(await link(admin), 200).json.id).toBe(linked.id)
    const bob = await suite.addUser()
    expect(refusalOf(await link(bob))).toEqual([409, "identity_taken"])
    const path = `/v1/me/identities/${linked.id}`
    expect(refusalOf(await suite.call("DELETE", path, { as: bob }))).toEqual([
      404,
      "identity_not_found",
    ])
    expectStatus(await suite.call("DELETE", path, { as: admin }), 204)
    expect((await finish(suite, await visit(suite))).json.session).toBeNull()
    expectStatus(await link(bob), 200)
  })

  test("has at most 10 per user", async () => {
    const ada = await suite.addUser()
    for (let count = 0; count < 10; count++) {
      provider.account = `many_${suite.database.url === undefined ? "s" : "p"}_${count}`
      expectStatus(await link(ada), 200)
    }
    provider.account = "one_too_many"
    expect(refusalOf(await link(ada))).toEqual([409, "too_many_identities"])
    const { json } = await suite.call("GET", "/v1/me/identities?limit=100", { as: ada })
    expect(json.data).toHaveLength(10)
  })
}
