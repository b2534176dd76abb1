import { scope } from "@hamlet/contract"
import { allScopes } from "../../src/domain/accounts/tokens.ts"
import { addAuthorization, addOAuthClient, toAuthorizeQuery } from "../api/oauth-flow.ts"
import { addIdentity } from "../authorization/linked-identity.ts"
import { addWaitingEmail } from "../authorization/waiting-email.ts"
import { expectStatus, type TestApi, type TestResponse, type TestUser } from "../support/api.ts"
import { isOverload } from "./is-overload.ts"
import { createPools, type Pools } from "./pools.ts"

/** A server with people, vals and everything around them, and what is known of it. */
export interface FuzzServer {
  readonly api: TestApi
  readonly pools: Pools
  /** Remembers what an answer says has come to be. */
  learn(request: Request, response: Pick<TestResponse, "status" | "json">): void
  /** Gives those who send requests something of their own again. */
  refill(): Promise<void>
  /** State that no request may change, since no sender has the right to. */
  readProtectedState(): Promise<unknown>
}

const scopes = scope.options.filter((name) => name !== "admin" && name !== "backup")
const valsMin = 10
/** How often a search is asked for before that counts as a failure. */
const searchesMax = 20
/** Longer than any of these tests takes. */
const linkMs = 86_400_000

/** Fills the server. Eve is never asked to change anything: what is hers must stay as it is. */
export async function createFuzzServer(api: TestApi): Promise<FuzzServer> {
  const pools = createPools()
  const [ada, bob, eve] = [
    await api.addUser("ada"),
    await api.addUser("bob"),
    await api.addUser("eve"),
  ]
  for (const { id, username } of [ada, bob, eve, api.admin]) pools.keep("user", { id, username })
  for (const { token } of [ada, bob]) pools.keep("bearer", { token })
  pools.keep("admin", { token: api.admin.token })
  pools.keep("target", await addTarget(api))
  for (const user of [ada, bob])
    for (const scope of scopes) pools.keep("otherBearer", await addToken(api, user, [scope]))
  const expired = await api.hamlet.nouns.tokens.issue(ada.id, {
    name: "expired",
    scopes: allScopes,
    expiresAt: 1,
  })
  pools.keep("otherBearer", { token: expired.text })
  pools.keep("token", { id: expired.token.id, token: ada.token })
  // May read, with a token that every sender has.
  const reader = await addToken(api, eve, [
    "val:read",
    "user:read",
    "run:read",
    "blob:read",
    "sqlite:read",
  ])
  pools.keep("otherBearer", reader)
  const root = { tokenId: null, expiresAt: null }
  const { code } = await api.hamlet.nouns.signInLinks.create(
    { actorId: eve.id, scopes: new Set(["val:read"]), root },
    linkMs,
  )
  pools.keep("link", { code })
  pools.keep("program", { query: toAuthorizeQuery(await addOAuthClient(api.hamlet)) })
  const eveRuns = await addEve(api, pools, eve, reader.token, ada)
  const tokens = new Map([ada, bob, api.admin].map((user) => [user.id, user.token]))
  const refill = async () => {
    for (const user of [ada, bob]) {
      await refillUser(api, pools, user)
      await addOrganisation(api, pools, user)
    }
    pools.add("target", await addTarget(api))
    const { json } = expectStatus(
      await api.call("POST", "/v1/invitations", { as: api.admin, body: {} }),
      200,
    )
    pools.add("invitation", toInvitation(json))
  }
  await refill()
  return {
    api,
    pools,
    learn: (request, response) => learn(pools, tokens, request, response),
    refill,
    readProtectedState: () => look(api, eve, ada, eveRuns),
  }
}

function toInvitation({ id, url }: { readonly id: string; readonly url: string }): {
  id: string
  code: string
} {
  return { id, code: new URL(url).hash.slice("#code=".length) }
}

/** A user whom administrators may change. */
async function addTarget(api: TestApi): Promise<{ id: string }> {
  return {
    id: (await api.addUser(`target_${Bun.randomUUIDv7().replaceAll("-", "").slice(-20)}`)).id,
  }
}

/** A person can belong to so many only. */
async function addOrganisation(api: TestApi, pools: Pools, user: TestUser): Promise<void> {
  const username = `org_${Bun.randomUUIDv7().replaceAll("-", "").slice(-20)}`
  const { status, json } = await api.call("POST", "/v1/orgs", { as: user, body: { username } })
  if (status === 201) pools.add("org", { id: json.id, token: user.token })
  else if (json.code !== "too_many_organisations") throw new Error(`no organisation: ${json.code}`)
}

async function addToken(
  api: TestApi,
  user: TestUser,
  scopes: readonly string[],
): Promise<{ id: string; token: string }> {
  const { json } = expectStatus(
    await api.call("POST", "/v1/me/tokens", {
      as: user,
      body: { name: scopes.join().slice(0, 100), scopes },
    }),
    200,
  )
  return { id: json.id, token: json.token }
}

/** Gives the ids of the runs of her vals. */
async function addEve(
  api: TestApi,
  pools: Pools,
  eve: TestUser,
  token: string,
  ada: TestUser,
): Promise<readonly string[]> {
  const runs: string[] = []
  for (const privacy of ["public", "unlisted", "private"]) {
    const name = `eve_${privacy}`
    const first = `export default "albatross ${privacy}"`
    const id = await addVal(api, eve, { name, privacy, code: first })
    pools.keep("val", { id, name, username: "eve", token })
    const code = `export default "albatross two ${privacy}"`
    expectStatus(
      await api.call("POST", `/v1/vals/${id}/versions`, { as: eve, body: { code } }),
      201,
    )
    const comment = expectStatus(
      await api.call("POST", `/v1/vals/${id}/comments`, { as: eve, body: { comment: "mine" } }),
      201,
    )
    pools.keep("comment", { id: comment.json.id, token })
    expectStatus(await api.call("POST", `/v2/blob/a?val_id=${id}`, { as: eve, body: "e" }), 201)
    const statement = "create table own (a)"
    const path = `/v2/sqlite/execute?val_id=${id}`
    expectStatus(await api.call("POST", path, { as: eve, body: { statement } }), 200)
    const byAda = privacy === "private" ? [] : [await addRun(api, { id, version: 1 }, eve, ada)]
    const byEve = await addRun(api, { id, version: 2 }, eve, eve)
    for (const run of byAda) pools.keep("run", { id: run, val: id, token: ada.token })
    pools.keep("run", { id: byEve, val: id, token })
    runs.push(...byAda, byEve)
  }
  expectStatus(await api.call("PUT", "/v1/me/secrets/KEY", { as: eve, body: { value: "v" } }), 204)
  for (const [key, size] of [
    ["a", 10],
    ["a%2Fb", 100_000],
  ] as const)
    expectStatus(
      await api.call("POST", `/v1/blob/${key}`, { as: eve, body: "e".repeat(size) }),
      201,
    )
  const statements = [
    "create table t (id integer primary key, a)",
    "insert into t values (1, 'albatross')",
  ]
  expectStatus(await api.call("POST", "/v1/sqlite/batch", { as: eve, body: { statements } }), 200)
  return runs
}

async function addVal(
  api: TestApi,
  user: TestUser,
  val: {
    readonly name: string
    readonly privacy: string
    readonly code: string
    readonly type?: string
  },
): Promise<string> {
  const body = { type: "http", readme: "read me", ...val }
  const { id } = expectStatus(await api.call("PUT", "/v1/vals", { as: user, body }), 200).json
  const secret = { as: user, body: { value: "v" } }
  expectStatus(await api.call("PUT", `/v1/vals/${id}/secrets/VAL_1`, secret), 204)
  return id
}

/** Without it, chance decides whether a val exists that can have a schedule. */
async function addScheduledVal(api: TestApi, user: TestUser) {
  const name = `${user.username}_interval`
  const code = "export default () => 1"
  const id = await addVal(api, user, { name, privacy: "private", code, type: "interval" })
  const body = { cron: "@yearly" }
  expectStatus(await api.call("PUT", `/v1/vals/${id}/schedule`, { as: user, body }), 200)
  return { id, name, username: user.username, token: user.token }
}

/** Without it, chance decides whether a val exists that mail can be sent to. */
async function addMailVal(api: TestApi, user: TestUser) {
  const name = `${user.username}_email`
  const code = "export default () => 1"
  const id = await addVal(api, user, { name, privacy: "private", code, type: "email" })
  // With an old version too: only such a one can be deleted.
  const second = { as: user, body: { code: "export default () => 2" } }
  expectStatus(await api.call("POST", `/v1/vals/${id}/versions`, second), 201)
  return { id, name, username: user.username, token: user.token }
}

async function addRun(
  api: TestApi,
  val: { id: string; version: number },
  owner: TestUser,
  account: TestUser,
): Promise<string> {
  const id = Bun.randomUUIDv7()
  const at = 1_700_000_000_000
  await api.hamlet.stores.runs.record([
    {
      id,
      valId: val.id,
      version: val.version,
      accountId: account.id,
      ownerId: owner.id,
      parentId: null,
      source: "api",
      status: "failed",
      startedAt: at,
      endedAt: at + 5,
      error: { name: "Error", message: "no" },
      request: null,
      args: [1],
      returnValue: null,
      logs: [{ at: new Date(at).toISOString(), level: "log", message: "hello" }],
      logsTruncated: false,
    },
  ])
  return id
}

/** A webhook with a delivery, in the place of all earlier ones: an account may have few. */
async function addWebhook(api: TestApi, user: TestUser) {
  const { json } = await api.call("GET", "/v1/me/webhooks?limit=100", { as: user })
  for (const { id } of json.data) await api.call("DELETE", `/v1/me/webhooks/${id}`, { as: user })
  const body = { url: "https://receiver.invalid/", events: ["val.saved"] }
  const made = await api.call("POST", "/v1/me/webhooks", { as: user, body })
  const { id } = expectStatus(made, 201).json
  const sent = await api.call("POST", `/v1/me/webhooks/${id}/test`, { as: user })
  return { id, delivery: expectStatus(sent, 202).json.id }
}

async function refillUser(api: TestApi, pools: Pools, user: TestUser): Promise<void> {
  const { json } = expectStatus(
    await api.call("GET", `/v1/users/${user.id}/vals`, { as: user }),
    200,
  )
  const { token, username } = user
  const { session } = await api.hamlet.nouns.sessions.signIn({
    token,
    userAgent: null,
    replaced: undefined,
  })
  pools.add("session", { id: session.id, token })
  pools.add("identity", { id: await addIdentity(api, user), token })
  const authorized = await addAuthorization(api.hamlet, user)
  pools.add("authorization", { id: authorized.id, token })
  pools.add("email", { id: await addWaitingEmail(api, user), token })
  pools.add("webhook", { ...(await addWebhook(api, user)), token })
  const storing = [await addScheduledVal(api, user), await addMailVal(api, user)]
  for (const val of storing) pools.add("val", val)
  // Without these, no blob may be left to be read.
  for (const path of ["/v1/blob/a", ...storing.map(({ id }) => `/v2/blob/a?val_id=${id}`)])
    expectStatus(await api.call("POST", path, { as: user, body: "a" }), 201)
  for (let count = json.data.length; count < valsMin; count += 1) {
    const name = `${username}_${count}`
    const privacy = ["public", "unlisted", "private"][count % 3] ?? ""
    const id = await addVal(api, user, { name, privacy, code: `export default ${count}` })
    for (const code of ["a", "b", "c"])
      await api.call("POST", `/v1/vals/${id}/versions`, { as: user, body: { code } })
    pools.add("val", { id, name, username, token })
    pools.add("run", { id: await addRun(api, { id, version: 1 }, user, user), val: id, token })
    const comment = expectStatus(
      await api.call("POST", `/v1/vals/${id}/comments`, { as: user, body: { comment: "c" } }),
      201,
    )
    pools.add("comment", { id: comment.json.id, token })
  }
}

function learn(
  pools: Pools,
  tokens: ReadonlyMap<string, string>,
  request: Request,
  response: Pick<TestResponse, "status" | "json">,
): void {
  const { status, json } = response
  // Tokens that were created on the way may be revoked at any time, so none of them is taken for
  // one that works.
  const [sharedUser = ""] = tokens.values()
  const sent = request.headers.get("authorization")?.split(" ").at(-1) ?? ""
  const { method, url } = request
  if (method === "DELETE" && status === 204) pools.forget("val", url.split("/").at(-1) ?? "")
  if ((status !== 200 && status !== 201) || method === "GET" || typeof json?.id !== "string") return
  const token = tokens.get(json.author?.id) ?? sharedUser
  if ("privacy" in json)
    pools.add("val", { id: json.id, name: json.name, username: json.author.username, token })
  if ("comment" in json) pools.add("comment", { id: json.id, token })
  if ("username" in json) pools.add("user", { id: json.id, username: json.username })
  if ("createdBy" in json) pools.add("invitation", toInvitation(json))
  // An administrator could change the state that must not change.
  if (json.scopes?.includes("admin")) return
  if ("token" in json) pools.add("otherBearer", { token: json.token })
  if ("userAgent" in json) pools.add("session", { id: json.id, token })
  if ("scopes" in json)
    pools.add("token", {
      id: json.id,
      token: [...tokens.values()].includes(sent) ? sent : sharedUser,
    })
}

/**
 * Everything of Eve's, as she sees it and as others do; likes, comments, references and runs of
 * others are theirs to make.
 */
async function look(
  api: TestApi,
  eve: TestUser,
  ada: TestUser,
  runIds: readonly string[],
): Promise<unknown> {
  const views: unknown[] = []
  for (const privacy of ["public", "unlisted", "private"]) {
    const name = `eve_${privacy}`
    const { json: val } = expectStatus(
      await api.call("GET", `/v1/alias/eve/${name}`, { as: eve }),
      200,
    )
    const {
      likeCount: _likes,
      referenceCount: _references,
      forkCount: _forks,
      ...kept
    } = withoutLastRun(val)
    const versions = expectStatus(
      await api.call("GET", `/v1/vals/${val.id}/versions`, { as: eve }),
      200,
    )
    const module = expectStatus(
      await api.call("GET", `/v/eve/${name}`, { as: eve, headers: { "user-agent": "Deno/2" } }),
      200,
    )
    const stored = await api.call("GET", `/v2/blob?val_id=${val.id}`, { as: eve })
    const tables = await api.call("POST", `/v2/sqlite/execute?val_id=${val.id}`, {
      as: eve,
      body: { statement: "select * from sqlite_master" },
    })
    views.push(expectStatus(stored, 200).json, expectStatus(tables, 200).json)
    const found = await search(api, eve, `albatross two ${privacy}`)
    const toStranger = expectStatus(
      await api.call("GET", `/v1/vals/${val.id}`, { as: ada }),
      privacy === "private" ? 404 : 200,
    )
    const isFound = found.json.data.some((hit: { id: string }) => hit.id === val.id)
    views.push(
      kept,
      versions.json.data.map(withoutLastRun),
      module.text,
      isFound,
      toStranger.status,
    )
  }
  for (const id of runIds)
    views.push(expectStatus(await api.call("GET", `/v1/runs/${id}`, { as: eve }), 200).json)
  const tokens = expectStatus(await api.call("GET", "/v1/me/tokens", { as: eve }), 200).json
    .data as { id: string; scopes: unknown }[]
  const secrets = expectStatus(await api.call("GET", "/v1/me/secrets", { as: eve }), 200).json.data
  const blobs = expectStatus(await api.call("GET", "/v1/blob", { as: eve }), 200).json
  const contents = ["a", "a/b"].map(async (key) =>
    Bun.hash((await api.call("GET", `/v1/blob/${key}`, { as: eve })).text),
  )
  const statements = ["select * from t", "select * from sqlite_master"]
  const rows = expectStatus(
    await api.call("POST", "/v1/sqlite/batch", { as: eve, body: { statements } }),
    200,
  ).json
  const health = expectStatus(await api.call("GET", "/healthz"), 200)
  const readiness = expectStatus(await api.call("GET", "/readyz"), 200)
  return [
    views,
    tokens.map(({ id, scopes }) => ({ id, scopes })),
    secrets,
    blobs,
    await Promise.all(contents),
    rows,
    health.json,
    readiness.json,
  ]
}

/** On a busy machine a search may take too long, and says so: it is asked for again then. */
async function search(api: TestApi, as: TestUser, query: string): Promise<TestResponse> {
  const path = `/v1/search/vals?query=${encodeURIComponent(query)}`
  let response = await api.call("GET", path, { as })
  for (let attempt = 1; attempt < searchesMax && isOverload(response); attempt += 1)
    response = await api.call("GET", path, { as })
  return expectStatus(response, 200)
}

function withoutLastRun({
  runStartAt: _start,
  runEndAt: _end,
  ...rest
}: Record<string, unknown>): Record<string, unknown> {
  return rest
}
