import { expect, test } from "bun:test"
import { type RouteDefinition, routeNames, routes } from "@hamlet/contract"
import { waitUntil } from "@hamlet/kit/testing"
import { runScopes } from "../../src/domain/accounts/run-tokens.ts"
import { hashToken } from "../../src/domain/accounts/token-text.ts"
import { expectStatus, type TestUser } from "../support/api.ts"
import { describeSqliteApi, idsOf, refusalOf } from "./suite.ts"

const table: readonly (readonly [string, RouteDefinition])[] = routeNames.map((name) => [
  name,
  routes[name],
])
/**
 * All routes except reads. Calling a val is not a read, also with GET. Vals may write to their own
 * storage, and use the services of the standard library.
 */
const writing = table.filter(
  ([name, { method, path, scope, isSignIn }]) =>
    // To sign in with one is tried where signing in is; to sign out ends nothing; an invitation
    // asks for no token.
    !isSignIn &&
    name !== "signOut" &&
    name !== "acceptInvitation" &&
    // Tokens of connected services are for vals.
    !path.startsWith("/v3/connections/") &&
    (method !== "get" || path.startsWith("/v1/run/")) &&
    !/^(blob|sqlite|email|openai):/.test(scope ?? ""),
)

/** The matrix of `authorization.test.ts` calls every route with one, and compares what they are given. */
test("run tokens have no scope that a route needs which writes", () => {
  const open = writing.filter(([, { scope, scopeToWrite }]) =>
    [scope, scopeToWrite].every((one) => one === undefined || runScopes.includes(one)),
  )
  // A preview that a run token creates writes nothing, and shows no private val.
  expect(open.map(([name]) => name)).toEqual(["createPreview"])
})

describeSqliteApi("run tokens", (suite) => {
  const { call, addUser: person, val, run } = suite
  const issue = (user: TestUser) => suite.api.hamlet.parts.accounts.runTokens.issue(user)

  test("read what their user can read, and nothing private of other users", async () => {
    const [ada, bob] = [await person(), await person()]
    const mine = await val(ada, { privacy: "private" })
    const theirs = await val(bob, { privacy: "private" })
    const token = issue(ada)
    expect((await call("GET", "/v1/me", { as: token })).json.id).toBe(ada.id)
    expect(idsOf(await call("GET", `/v1/users/${ada.id}/vals`, { as: token }))).toEqual([mine.id])
    expect((await call("GET", `/v1/runs/${(await run(mine)).id}`, { as: token })).status).toBe(200)
    expect(refusalOf(await call("GET", `/v1/vals/${theirs.id}`, { as: token }))).toEqual([
      404,
      "val_not_found",
    ])
  })

  test("name their val, also to other nodes", async () => {
    const ada = await person()
    const { id } = await val(ada)
    const { parts, stores } = suite.api.hamlet
    const token = parts.accounts.runTokens.issue(ada, id)
    const find = () => stores.tokens.findHolder(hashToken(token))
    await waitUntil(async () => (await find()) !== undefined)
    expect(await find()).toMatchObject({ userId: ada.id, isOfRun: true, valId: id })
  })

  test("read and write the blobs of their user, and of no other user", async () => {
    const [ada, bob] = [await person(), await person()]
    const token = issue(ada)
    expectStatus(await call("POST", "/v1/blob/a", { as: token, body: "mine" }), 201)
    expectStatus(await call("POST", "/v1/blob/b", { as: bob, body: "theirs" }), 201)
    expect((await call("GET", "/v1/blob/a", { as: ada })).text).toBe("mine")
    expect((await call("GET", "/v1/blob", { as: token })).json).toMatchObject([{ key: "a" }])
    expect(refusalOf(await call("GET", "/v1/blob/b", { as: token }))).toEqual([
      404,
      "blob_not_found",
    ])
    expectStatus(await call("DELETE", "/v1/blob/a", { as: token }), 204)
  })

  test("are in no list, and cannot be revoked", async () => {
    const ada = await person()
    const token = issue(ada)
    const listed = async () => idsOf(await call("GET", "/v1/me/tokens", { as: ada }))
    const before = await listed()
    const rows = async () =>
      suite.database.db.read<{ id: string; name: string }>({
        text: `select id, name from tokens where user_id = '${ada.id}' and node_id is not null`,
        values: [],
      })
    await waitUntil(async () => (await rows()).length !== 0)
    const [row] = await rows()
    expect(row?.name).toBe("run")
    expect(await listed()).toEqual(before)
    expect(refusalOf(await call("DELETE", `/v1/me/tokens/${row?.id}`, { as: ada }))).toEqual([
      404,
      "token_not_found",
    ])
    expectStatus(await call("GET", "/v1/me", { as: token }), 200)
  })
})
