import { describe, expect, test } from "bun:test"
import { availableParallelism, hostname } from "node:os"
import { type RouteDefinition, routeNames, routes } from "@hamlet/contract"
import { sql } from "@hamlet/database"
import { waitUntil } from "@hamlet/kit/testing"
import { operator } from "../../src/domain/accounts/audit.ts"
import { toPageKey } from "../../src/shared/cookies.ts"
import { createNodeStore } from "../../src/storage/nodes.ts"
import { expectStatus, type TestUser, testBaseUrl } from "../support/api.ts"
import { type ApiSuite, describeApi, idsOf, refusalOf, type ValView } from "./suite.ts"

const missing = "01890000-0000-7000-8000-000000000000"
/** Goes on until it is cancelled. */
const hang = 'export default () => { console.log("here"); return new Promise(() => {}) }'

describeApi(
  "api/administration",
  (suite) => {
    describe("suspension", () => defineSuspension(suite))
    describe("DELETE /v1/users/{user_id}", () => defineDelete(suite))
    describe("POST /v1/users/{user_id}/tokens", () => defineTokens(suite))
    describe("quotas", () => defineQuotas(suite))
    describe("invitations", () => defineInvitations(suite))
    describe("GET /v1/audit", () => defineAudit(suite))
    describe("GET /v1/nodes", () => defineNodes(suite))
  },
  { HAMLET_DATA_DIR_SHARED: "yes" },
)

function adminOf(suite: ApiSuite) {
  return (method: string, path: string, body?: unknown) =>
    suite.call(method, path, { as: suite.api.admin.token, ...(body === undefined ? {} : { body }) })
}

async function visit(
  { api }: ApiSuite,
  val: ValView,
  token?: string,
): Promise<{ status: number; code: string | undefined }> {
  const host = new URL(val.links.endpoint ?? "").host
  const headers = {
    host,
    accept: "application/json",
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  }
  const connection = { address: () => "", timeout() {}, upgrade: () => false }
  const response = await api.hamlet.gateway.fetch(
    new Request(`http://${host}/`, { headers }),
    connection,
  )
  const text = (await response?.text()) ?? ""
  return { status: response?.status ?? 0, code: response?.ok ? undefined : JSON.parse(text).code }
}

async function startHanging(
  { call, val }: ApiSuite,
  owner: TestUser,
  runner: TestUser,
): Promise<string> {
  const hanging = await val(owner, { code: hang })
  const headers = { prefer: "respond-async" }
  const { id } = expectStatus(
    await call("POST", `/v1/vals/${hanging.id}/runs`, { as: runner, headers }),
    202,
  ).json
  await waitUntil(
    async () => (await call("GET", `/v1/runs/${id}/logs`, { as: runner })).json.data.length !== 0,
  )
  return id
}

async function whenEnded({ call }: ApiSuite, id: string, as: TestUser): Promise<string> {
  return waitUntil(async () => {
    const { status } = (await call("GET", `/v1/runs/${id}`, { as })).json
    return status !== "queued" && status !== "running" && status
  })
}

function defineSuspension(suite: ApiSuite): void {
  const { call, addUser: person, val } = suite
  const admin = adminOf(suite)
  const suspend = (user: TestUser, body: object = {}) =>
    admin("PUT", `/v1/users/${user.id}/suspension`, body)

  test("refuses the user's tokens, and all requests to their vals, until it is lifted", async () => {
    const [ada, bob] = [await person(), await person()]
    const code = "export default () => new Response('hello')"
    const [page, script] = [
      await val(ada, { code, type: "http" }),
      await val(ada, { code: "export default () => 1" }),
    ]
    expect(await visit(suite, page)).toMatchObject({ status: 200 })

    expectStatus(await suspend(ada, { reason: "spam" }), 204)

    expect(refusalOf(await call("GET", "/v1/me", { as: ada }))).toEqual([403, "user_suspended"])
    expect(refusalOf(await call("POST", "/v1/vals", { as: ada, body: { code: "1" } }))).toEqual([
      403,
      "user_suspended",
    ])
    expect(await visit(suite, page)).toEqual({ status: 403, code: "user_suspended" })
    expect(await visit(suite, page, bob.token)).toEqual({ status: 403, code: "user_suspended" })
    expect(refusalOf(await call("POST", `/v1/vals/${script.id}/runs`, { as: bob }))).toEqual([
      403,
      "user_suspended",
    ])
    expect(
      refusalOf(await call("POST", `/v1/run/${ada.username}.${script.name}`, { as: bob })),
    ).toEqual([403, "user_suspended"])
    // What others have built on the code goes on.
    expectStatus(await call("GET", `/v1/vals/${script.id}`), 200)
    expect((await admin("GET", `/v1/users/${ada.id}/account`)).json).toMatchObject({
      suspendedAt: expect.any(String),
      deletedAt: null,
    })

    expectStatus(await admin("DELETE", `/v1/users/${ada.id}/suspension`), 204)
    expectStatus(await call("GET", "/v1/me", { as: ada }), 200)
    expect(await visit(suite, page)).toMatchObject({ status: 200 })
    expect((await admin("GET", `/v1/users/${ada.id}/account`)).json.suspendedAt).toBeNull()
  })

  test("shows other users nothing of private vals", async () => {
    const ada = await person()
    const hidden = await val(ada, {
      code: "export default () => new Response('')",
      type: "http",
      privacy: "private",
    })
    expectStatus(await suspend(ada), 204)
    expect(await visit(suite, hidden)).toEqual({ status: 404, code: "val_not_found" })
  })

  test("cancels all runs of the user's vals, and those on the user's account", async () => {
    const [ada, bob] = [await person(), await person()]
    const [own, lent] = [await startHanging(suite, ada, ada), await startHanging(suite, ada, bob)]
    expectStatus(await suspend(ada), 204)
    expect(await whenEnded(suite, lent, bob)).toBe("cancelled")
    expectStatus(await admin("DELETE", `/v1/users/${ada.id}/suspension`), 204)
    expect(await whenEnded(suite, own, ada)).toBe("cancelled")
  })

  test("ends sessions and sign-in links", async () => {
    const ada = await person()
    const signIn = (body: object) =>
      call("POST", "/v1/sessions", { body, headers: { "x-hamlet-session": "1" } })
    const cookie =
      expectStatus(await signIn({ token: ada.token }), 200)
        .headers.get("set-cookie")
        ?.split(";")[0] ?? ""
    const link = expectStatus(await call("POST", "/v1/me/sign-in-links", { as: ada }), 200).json.url
    expectStatus(await suspend(ada), 204)
    const headers = { cookie, "x-hamlet-session": toPageKey(cookie.slice(cookie.indexOf("=") + 1)) }
    expect(refusalOf(await call("GET", "/v1/me", { headers }))).toEqual([403, "user_suspended"])
    expect(refusalOf(await signIn({ token: ada.token }))).toEqual([403, "user_suspended"])
    expect(refusalOf(await signIn({ code: new URL(link).hash.slice(6) }))).toEqual([
      401,
      "invalid_sign_in_code",
    ])
  })

  test("is refused for the caller's own account and for an unknown user", async () => {
    expect(refusalOf(await suspend(suite.api.admin))).toEqual([409, "own_account"])
    expect(refusalOf(await admin("DELETE", `/v1/users/${suite.api.admin.id}`))).toEqual([
      409,
      "own_account",
    ])
    expect(refusalOf(await admin("PUT", `/v1/users/${missing}/suspension`, {}))).toEqual([
      404,
      "user_not_found",
    ])
    expect(refusalOf(await admin("DELETE", `/v1/users/${missing}/suspension`))).toEqual([
      404,
      "user_not_found",
    ])
  })
}

function defineDelete(suite: ApiSuite): void {
  const { call, addUser: person, val, run } = suite
  const admin = adminOf(suite)
  test("keeps the data by default: signing in fails, the code stays readable, the name stays taken", async () => {
    const ada = await person()
    const shown = await val(ada)
    expectStatus(
      await call("PUT", "/v1/me", { as: ada, body: { bio: "hello", email: "ada@hamlet.test" } }),
      200,
    )
    expectStatus(await call("PUT", "/v1/me/secrets/KEY", { as: ada, body: { value: "hush" } }), 204)

    expectStatus(await admin("DELETE", `/v1/users/${ada.id}`), 204)

    expect(refusalOf(await call("GET", "/v1/me", { as: ada }))).toEqual([401, "invalid_token"])
    expect((await call("GET", `/v1/vals/${shown.id}`)).json.code).toBe("1")
    const account = (await admin("GET", `/v1/users/${ada.id}/account`)).json
    expect(account).toMatchObject({
      bio: null,
      email: null,
      deletedAt: expect.any(String),
      suspendedAt: expect.any(String),
    })
    expect(refusalOf(await admin("POST", "/v1/users", { username: ada.username }))).toEqual([
      409,
      "username_taken",
    ])

    // Nothing of it is lost: an administrator can bring the user back.
    expectStatus(await admin("DELETE", `/v1/users/${ada.id}/suspension`), 204)
    const { token } = expectStatus(await admin("POST", `/v1/users/${ada.id}/tokens`, {}), 200).json
    expect(idsOf(await call("GET", "/v1/me/vals", { as: token }))).toEqual([shown.id])
    expect((await call("GET", "/v1/me/secrets", { as: token })).json.data).toEqual([])
  })

  test("with the data deletes everything of the user, and corrects the counts of other users' vals", async () => {
    const [ada, bob] = [await person(), await person()]
    const bobs = await val(bob)
    const [shown, hidden] = [
      await val(ada, { code: `import "${testBaseUrl}/v/${bob.username}/${bobs.name}"` }),
      await val(ada, { privacy: "private" }),
    ]
    await run(shown)
    await run(bobs, { accountId: ada.id })
    expectStatus(await call("PUT", `/v1/vals/${bobs.id}/like`, { as: ada }), 204)
    const comment = expectStatus(
      await call("POST", `/v1/vals/${bobs.id}/comments`, { as: ada, body: { comment: "hi" } }),
      201,
    ).json
    for (const [key, size] of [
      ["small", 10],
      ["large", 70_000],
    ] as const)
      expectStatus(await call("POST", `/v1/blob/${key}`, { as: ada, body: "x".repeat(size) }), 201)
    expectStatus(
      await call("POST", "/v1/sqlite/execute", {
        as: ada,
        body: { statement: "create table t (x)" },
      }),
      200,
    )
    expect((await call("GET", `/v1/vals/${bobs.id}`)).json).toMatchObject({
      likeCount: 1,
      referenceCount: 1,
    })
    expect(await suite.api.hamlet.parts.userData.ownerDatabases.sizeOf(ada.id)).toBeGreaterThan(0)

    expectStatus(await admin("DELETE", `/v1/users/${ada.id}?data=delete`), 204)

    expect((await call("GET", `/v1/vals/${bobs.id}`)).json).toMatchObject({
      likeCount: 0,
      referenceCount: 0,
    })
    for (const path of [
      `/v1/users/${ada.id}`,
      `/v1/alias/${ada.username}`,
      `/v1/vals/${shown.id}`,
      `/v1/vals/${hidden.id}`,
    ])
      expectStatus(await call("GET", path), 404)
    expect(idsOf(await call("GET", `/v1/vals/${bobs.id}/comments`))).not.toContain(comment.id)
    expect(await suite.api.hamlet.parts.userData.ownerDatabases.sizeOf(ada.id)).toBe(0)
    const { db } = suite.database
    const left = await db.read<{ count: number | string }>(sql`
      select (select count(*) from tokens where user_id = ${ada.id}) + (select count(*) from blobs where owner_id = ${ada.id})
        + (select count(*) from runs where account_id = ${ada.id} and owner_id <> ${ada.id})
        + (select count(*) from objects where owner_id = ${ada.id} and unused_since is null) as count`)
    expect(Number(left[0]?.count)).toBe(0)
    expectStatus(await admin("POST", "/v1/users", { username: ada.username }), 200)
  })

  test("with the data continues after an interruption", async () => {
    const ada = await person()
    await val(ada)
    const { nouns, stores } = suite.api.hamlet
    const entry = {
      id: nouns.clock.newId(),
      at: nouns.clock.now(),
      action: "user.delete_with_data",
      actor: operator,
      details: {},
    } as const
    await stores.accounts.closeForPurge(ada.id, {
      ...entry,
      subject: { id: ada.id, name: ada.username },
    })
    // The housekeeping of the server continues it too, at any time.
    expect([[ada.id], []]).toContainEqual([...(await stores.accounts.listPendingPurges())])
    // What is half gone does not come back.
    expect(refusalOf(await admin("DELETE", `/v1/users/${ada.id}/suspension`))).toEqual([
      404,
      "user_not_found",
    ])
    expect([204, 404]).toContain((await admin("DELETE", `/v1/users/${ada.id}?data=delete`)).status)
    await waitUntil(async () => (await stores.accounts.listPendingPurges()).length === 0)
    expectStatus(await call("GET", `/v1/users/${ada.id}`), 404)
  })

  test("refuses an unknown value of the data parameter, and an unknown user", async () => {
    const ada = await person()
    expect(refusalOf(await admin("DELETE", `/v1/users/${ada.id}?data=all`))).toEqual([
      400,
      "invalid_request",
    ])
    expect(refusalOf(await admin("DELETE", `/v1/users/${missing}`))).toEqual([
      404,
      "user_not_found",
    ])
    expectStatus(await call("GET", "/v1/me", { as: ada }), 200)
  })
}

function defineTokens(suite: ApiSuite): void {
  const { call, addUser: person } = suite
  const admin = adminOf(suite)

  test("creates a token for the user, by default with all scopes except admin", async () => {
    const ada = await person()
    const { token, scopes } = expectStatus(
      await admin("POST", `/v1/users/${ada.id}/tokens`, {}),
      200,
    ).json
    expect(scopes).toContain("val:write")
    expect(scopes).not.toContain("admin")
    expect((await call("GET", "/v1/me", { as: token })).json.id).toBe(ada.id)
    const body = { name: "ops", scopes: ["admin", "admin"], expiresAt: "2999-01-01T00:00:00Z" }
    const made = expectStatus(await admin("POST", `/v1/users/${ada.id}/tokens`, body), 200).json
    expect(made).toMatchObject({
      name: "ops",
      scopes: ["admin"],
      expiresAt: "2999-01-01T00:00:00.000Z",
    })
    expectStatus(await call("GET", "/v1/users", { as: made.token }), 200)
  })

  test("grants admin scopes only to a caller whose token has them", async () => {
    const ada = await person()
    const path = `/v1/users/${ada.id}/tokens`
    const { token } = expectStatus(await admin("POST", path, { scopes: ["admin"] }), 200).json
    for (const scopes of [["backup"], ["val:read", "backup"]]) {
      const refused = await call("POST", path, { as: token, body: { scopes } })
      expect(refusalOf(refused)).toEqual([403, "scope_escalation"])
      expect(refused.json.message).toContain("scope backup")
    }
    expectStatus(
      await call("POST", path, { as: token, body: { scopes: ["val:read", "admin"] } }),
      200,
    )
    const made = expectStatus(await admin("POST", path, { scopes: ["backup"] }), 200).json
    expect(refusalOf(await call("GET", "/v1/users", { as: made.token }))).toEqual([
      403,
      "missing_scope",
    ])
    expect((await call("HEAD", "/v1/backup", { as: made.token })).status).toBe(200)
    expect((await call("HEAD", "/v1/backup", { as: token })).status).toBe(403)
  })

  test("users.findFirst finds the administrator, not the next oldest user, when the first user is suspended", async () => {
    const [older, heir] = [await person(), await person()]
    const { token } = expectStatus(
      await admin("POST", `/v1/users/${heir.id}/tokens`, { scopes: ["val:read", "admin"] }),
      200,
    ).json
    const { users } = suite.api.hamlet.stores
    const path = `/v1/users/${suite.api.admin.id}/suspension`
    expectStatus(await call("PUT", path, { as: token, body: {} }), 204)
    const found = await users.findFirst()
    expectStatus(await call("DELETE", path, { as: token }), 204)
    const [row] = await suite.database.db.read<{ count: number | string }>(sql`
      select count(*) as count from tokens where user_id = ${found?.id ?? null} and scopes like '%admin'`)
    expect([Number(row?.count), older.id < heir.id]).toEqual([1, true])
    expect((await users.findFirst())?.id).toBe(suite.api.admin.id)
  })
}

function defineQuotas(suite: ApiSuite): void {
  const { call, addUser: person, val } = suite
  const admin = adminOf(suite)
  const put = (user: TestUser, quotas: object) =>
    admin("PUT", `/v1/users/${user.id}/quotas`, quotas)

  test("are unset at first, and each is set and removed independently", async () => {
    const ada = await person()
    const path = `/v1/users/${ada.id}/quotas`
    const none = expectStatus(await admin("GET", path), 200).json
    expect(Object.values(none).every((value) => value === null)).toBe(true)
    expect(expectStatus(await put(ada, { blobBytes: 5, runsPerMinute: 2 }), 200).json).toEqual({
      ...none,
      blobBytes: 5,
      runsPerMinute: 2,
    })
    expect(expectStatus(await put(ada, { blobBytes: null }), 200).json).toEqual({
      ...none,
      runsPerMinute: 2,
    })
    expect((await admin("GET", path)).json).toEqual({ ...none, runsPerMinute: 2 })
    for (const body of [
      {},
      { blobBytes: -1 },
      { runsPerMinute: 0 },
      { runsAtOnce: 1.5 },
      { blobBytes: "5" },
    ])
      expect(refusalOf(await put(ada, body))).toEqual([400, "invalid_request"])
    expect(refusalOf(await admin("PUT", `/v1/users/${missing}/quotas`, { blobBytes: 1 }))).toEqual([
      404,
      "user_not_found",
    ])
  })

  test("limit runs, blobs and SQLite, and usage shows them to the user and the administrator", async () => {
    const [ada, bob] = [await person(), await person()]
    const quotas = {
      runsPerMinute: 1,
      runsAtOnce: 3,
      egressBytesPerMinute: 9,
      storageRequestsPerMinute: 50,
      blobBytes: 20,
      sqliteBytes: 16_384,
    }
    expectStatus(await put(ada, quotas), 200)
    const script = await val(bob, { code: "export default () => 1" })
    expectStatus(await call("POST", `/v1/vals/${script.id}/runs`, { as: ada }), 200)
    expect(refusalOf(await call("POST", `/v1/vals/${script.id}/runs`, { as: ada }))).toEqual([
      429,
      "rate_limited",
    ])
    expectStatus(await call("POST", "/v1/blob/a", { as: ada, body: "x".repeat(20) }), 201)
    expect(refusalOf(await call("POST", "/v1/blob/b", { as: ada, body: "x" }))).toEqual([
      413,
      "quota_exceeded",
    ])
    const execute = (as: TestUser, statement: unknown) =>
      call("POST", "/v1/sqlite/execute", { as, body: { statement } })
    const fill = { sql: "insert into t values (zeroblob(100000))", args: [] }
    for (const user of [ada, bob]) expectStatus(await execute(user, "create table t (x)"), 200)
    expect(refusalOf(await execute(ada, fill))).toEqual([413, "quota_exceeded"])
    expectStatus(await execute(bob, fill), 200)

    const usage = expectStatus(await admin("GET", `/v1/users/${ada.id}/usage`), 200).json
    expect(usage).toMatchObject({
      runs: { perMinuteMax: 1, atOnceMax: 3, lastMinute: 1 },
      egress: { bytesPerMinuteMax: 9 },
      storage: { requestsPerMinuteMax: 50 },
      blobs: { bytesMax: 20, bytes: 20 },
      sqlite: { bytesMax: 16_384 },
    })
    expect((await call("GET", "/v1/me/usage", { as: ada })).json.blobs).toEqual(usage.blobs)

    expectStatus(await put(ada, { sqliteBytes: 1_000_000 }), 200)
    expectStatus(await execute(ada, fill), 200)
    expect(refusalOf(await admin("GET", `/v1/users/${missing}/usage`))).toEqual([
      404,
      "user_not_found",
    ])
  })
}

function defineInvitations(suite: ApiSuite): void {
  const { call, addUser: person } = suite
  const admin = adminOf(suite)
  const invite = async (body: object = {}) =>
    expectStatus(await admin("POST", "/v1/invitations", body), 200).json
  const codeOf = ({ url }: { url: string }) => new URL(url).hash.slice("#code=".length)
  const accept = (code: string, username: string, more: object = {}) =>
    call("POST", "/v1/invitations/accept", { body: { code, username, ...more } })

  test("work once: a person chooses a name and gets a token", async () => {
    const { username: taken } = await person()
    const made = await invite({ note: "for Grace", hours: 1 })
    expect(made).toMatchObject({ note: "for Grace", createdBy: "admin" })
    expect(made.url).toMatch(/^http:\/\/hamlet\.test\/invitation#code=hamlet_invitation_/)
    expect(Date.parse(made.expiresAt) - Date.parse(made.createdAt)).toBe(3_600_000)
    const { url: _url, ...listed } = made
    expect((await admin("GET", "/v1/invitations")).json.data).toContainEqual(listed)
    // A name that is taken does not use it up.
    expect(refusalOf(await accept(codeOf(made), taken.toUpperCase()))).toEqual([
      409,
      "username_taken",
    ])
    expect(refusalOf(await accept(codeOf(made), "no-name"))).toEqual([400, "invalid_request"])

    const grace = expectStatus(
      await accept(codeOf(made), "grace", { email: "grace@hamlet.test" }),
      200,
    ).json

    expect((await call("GET", "/v1/me", { as: grace.token })).json).toMatchObject({
      id: grace.id,
      username: "grace",
      email: "grace@hamlet.test",
    })
    expect(refusalOf(await call("GET", "/v1/users", { as: grace.token }))).toEqual([
      403,
      "missing_scope",
    ])
    expect(refusalOf(await accept(codeOf(made), "second"))).toEqual([404, "invitation_not_found"])
    expect(idsOf(await admin("GET", "/v1/invitations"))).not.toContain(made.id)
  })

  test("give the user the address, as confirmed, and the quotas that they promise", async () => {
    const promised = { email: "ida@hamlet.test", quotas: { runsPerMinute: 7, blobBytes: null } }
    const made = await invite(promised)
    expect(made).toMatchObject({ email: "ida@hamlet.test", quotas: { runsPerMinute: 7 } })
    const accepted = expectStatus(
      await accept(codeOf(made), "ida_invited", { email: "other@hamlet.test" }),
      200,
    ).json
    const me = await call("GET", "/v1/me", { as: accepted.token })
    expect(me.json).toMatchObject({ email: "ida@hamlet.test", emailVerified: true })
    expect((await admin("GET", `/v1/users/${accepted.id}/quotas`)).json).toMatchObject({
      runsPerMinute: 7,
      runsAtOnce: null,
    })
    await waitUntil(
      async () =>
        (await call("GET", "/v1/me/usage", { as: accepted.token })).json.runs.perMinuteMax === 7,
    )
    const { json } = await admin("GET", "/v1/audit?action=invitation.create&limit=1")
    expect(json.data[0].details).toEqual(promised)
    const wrong = { quotas: { runsPerMinute: -1 } }
    expect(refusalOf(await admin("POST", "/v1/invitations", wrong))).toEqual([
      400,
      "invalid_request",
    ])
  })

  test("let exactly one of many simultaneous requests accept", async () => {
    const code = codeOf(await invite())
    const responses = await Promise.all(
      Array.from({ length: 5 }, (_, index) => accept(code, `racer${index}`)),
    )
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404, 404])
  })

  test("end when they are revoked, when they expire, and when their creator's account is deleted", async () => {
    const revoked = await invite()
    expectStatus(await admin("DELETE", `/v1/invitations/${revoked.id}`), 204)
    expect(refusalOf(await admin("DELETE", `/v1/invitations/${revoked.id}`))).toEqual([
      404,
      "invitation_not_found",
    ])
    expect(refusalOf(await accept(codeOf(revoked), "late"))).toEqual([404, "invitation_not_found"])

    const expired = await invite()
    await suite.database.db.write(function* () {
      yield sql`update invitations set expires_at = 1 where id = ${expired.id}`
    })
    expect(refusalOf(await accept(codeOf(expired), "late"))).toEqual([404, "invitation_not_found"])
    expect(idsOf(await admin("GET", "/v1/invitations"))).not.toContain(expired.id)

    const other = await person()
    const { token } = expectStatus(
      await admin("POST", `/v1/users/${other.id}/tokens`, { scopes: ["admin"] }),
      200,
    ).json
    const orphan = expectStatus(
      await call("POST", "/v1/invitations", { as: token, body: {} }),
      200,
    ).json
    expectStatus(await admin("PUT", `/v1/users/${other.id}/suspension`, {}), 204)
    expect(refusalOf(await accept(codeOf(orphan), "late"))).toEqual([404, "invitation_not_found"])
  })

  test("refuse an invalid code", async () => {
    for (const code of ["x", "hamlet_invitation_x", suite.api.admin.token])
      expect(refusalOf(await accept(code, "late"))).toEqual([404, "invitation_not_found"])
  })
}

function defineAudit(suite: ApiSuite): void {
  const { call, addUser: person } = suite
  const admin = adminOf(suite)

  test("lists every change by an administrator, with actor, subject and time", async () => {
    const ada = await person()
    const subject = { id: ada.id, name: ada.username }
    const actor = { id: suite.api.admin.id, username: "admin" }
    const made = expectStatus(await admin("POST", "/v1/users", { username: "audited" }), 200).json
    const open = expectStatus(await admin("POST", "/v1/invitations", { note: "A" }), 200).json
    const used = expectStatus(await admin("POST", "/v1/invitations", { note: "B" }), 200).json
    const body = { code: new URL(used.url).hash.slice(6), username: "accepted" }
    const accepted = expectStatus(await call("POST", "/v1/invitations/accept", { body }), 200).json
    expectStatus(await admin("DELETE", `/v1/invitations/${open.id}`), 204)
    expectStatus(await admin("PUT", `/v1/users/${ada.id}/quotas`, { blobBytes: 7 }), 200)
    const token = expectStatus(
      await admin("POST", `/v1/users/${ada.id}/tokens`, { name: "t", scopes: ["val:read"] }),
      200,
    ).json
    expectStatus(await admin("PUT", `/v1/users/${ada.id}/suspension`, { reason: "spam" }), 204)
    expectStatus(await admin("DELETE", `/v1/users/${ada.id}/suspension`), 204)
    expectStatus(await admin("DELETE", `/v1/users/${ada.id}`), 204)
    expectStatus(await admin("DELETE", `/v1/users/${ada.id}?data=delete`), 204)
    expectStatus(await admin("GET", "/v1/backup"), 200)

    const { data } = expectStatus(await admin("GET", "/v1/audit?limit=12"), 200).json

    const invitation = (it: typeof open) => ({ id: it.id, name: it.note })
    const none = { id: null, name: null }
    expect(data.map((it: { id: string; at: string }) => ({ ...it, id: 0, at: 0 }))).toEqual(
      [
        { action: "user.create", subject: { id: made.id, name: "audited" } },
        { action: "invitation.create", subject: invitation(open) },
        { action: "invitation.create", subject: invitation(used) },
        {
          action: "invitation.accept",
          actor: { id: accepted.id, username: "accepted" },
          subject: invitation(used),
        },
        { action: "invitation.revoke", subject: invitation(open) },
        { action: "user.set_quotas", details: { blobBytes: 7 } },
        { action: "token.create", details: { tokenId: token.id, name: "t", scopes: ["val:read"] } },
        { action: "user.suspend", details: { reason: "spam" } },
        { action: "user.unsuspend" },
        { action: "user.delete" },
        { action: "user.delete_with_data" },
        { action: "backup.read", subject: none },
      ]
        .map((it) => ({ id: 0, at: 0, actor, subject, details: {}, ...it }))
        .reverse(),
    )
    const actions = idsOf(await admin("GET", "/v1/audit?action=user.suspend&limit=1"))
    expect(actions).toEqual(
      data
        .filter((it: { action: string }) => it.action === "user.suspend")
        .map((it: { id: string }) => it.id),
    )
    expect(idsOf(await admin("GET", `/v1/audit?since=${data[0].at}`))).toEqual([])
    expect(refusalOf(await call("GET", "/v1/audit", { as: await person() }))).toEqual([
      403,
      "missing_scope",
    ])
  })

  test("covers every route with which only administrators can change something", () => {
    const isAct = ({ method, scope }: RouteDefinition) => scope === "admin" && method !== "get"
    // A new action needs an expectation above.
    expect(routeNames.filter((name) => isAct(routes[name])).sort() as string[]).toEqual([
      "createInvitation",
      "createUser",
      "createUserToken",
      "deleteUser",
      "putUserEmail",
      "putUserQuotas",
      "revokeInvitation",
      "suspendUser",
      "unsuspendUser",
    ])
  })
}

function defineNodes(suite: ApiSuite) {
  const admin = adminOf(suite)

  test("lists the nodes with what they told, also one of an older release that tells nothing", async () => {
    const older = { id: Bun.randomUUIDv7(), host: "older.example", pid: 7 }
    const nodes = createNodeStore(suite.database.db)
    await nodes.add({ ...older, pidStarted: "x" }, 3_600_000)
    const { data } = expectStatus(await admin("GET", "/v1/nodes"), 200).json
    const { version, schemaVersion } = expectStatus(await suite.call("GET", "/readyz"), 200).json
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/)
    const node = { state: "active", seenAt: time }
    expect(data).toEqual([
      { ...older, ...node, report: null },
      {
        ...node,
        id: suite.api.hamlet.parts.foundation.nodeId,
        host: hostname(),
        pid: process.pid,
        report: {
          version,
          schemaVersion,
          startedAt: time,
          address: expect.stringMatching(/:\d+$/),
          isolation: "auto",
          clockSkewMs: expect.any(Number),
          isClockWrong: false,
          runs: expect.any(Number),
          waitingRuns: expect.any(Number),
          processes: expect.any(Number),
          cpuLoad: expect.any(Number),
          cpus: availableParallelism(),
          memoryBytes: expect.any(Number),
          valMemoryBytes: expect.any(Number),
          valMemoryBytesMax: expect.any(Number),
        },
      },
    ])
    expect(Date.parse(data[1].report.startedAt)).toBeLessThan(Date.parse(data[1].seenAt))
    await nodes.end(older.id)
    expect(refusalOf(await suite.call("GET", "/v1/nodes", { as: await suite.addUser() }))).toEqual([
      403,
      "missing_scope",
    ])
  })
}
