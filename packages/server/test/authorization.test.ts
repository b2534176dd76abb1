import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { type RouteDefinition, routeNames, routes, type Scope } from "@hamlet/contract"
import { z } from "zod"
import { callersFor, createCallers, type TestCaller } from "./authorization/callers.ts"
import { findFaults } from "./authorization/matrix.ts"
import { expectedOf } from "./authorization/rules.ts"
import { toRunRecord } from "./authorization/run-record.ts"
import { toSampleRequest } from "./authorization/samples.ts"
import { expectStatus, openApi, type TestApi, type TestUser } from "./support/api.ts"
import { describePostgres, describeSqlite, type OpenDatabase } from "./support/databases.ts"
import { FakeRunner } from "./support/fakes/fake-runner.ts"

const privacies = ["public", "unlisted", "private"] as const
const table: readonly (readonly [string, RouteDefinition])[] = routeNames.map((name) => [
  name,
  routes[name],
])

describe("routes", () => {
  test("declare the required relation to the val wherever the path names one", () => {
    for (const [name, route] of table)
      expect([name, route.valAccess !== undefined]).toEqual([
        name,
        /\{val_(id|name)\}/.test(route.path),
      ])
  })

  test("require a token and a scope for every write and run, and a reading scope for every read", () => {
    // Who signs in has nothing else to show yet, and who may do next to nothing may still sign out.
    const others = table.filter(
      ([name, { isSignIn }]) =>
        isSignIn !== true && name !== "acceptInvitation" && name !== "signOut",
    )
    for (const [name, { method, path, auth, scope = "", scopeToWrite = scope }] of others) {
      // Previews and connections write nothing.
      if (name === "createPreview") expect([auth, scope]).toEqual(["required", "val:read"])
      else if (path.startsWith("/v3/connections/"))
        expect([auth, scope]).toEqual(["required", "user:read"])
      else if (method !== "get" || /^\/v1\/(run|eval)\//.test(path))
        expect([name, auth, /:write$|^admin$/.test(scopeToWrite)]).toEqual([name, "required", true])
      else if (auth !== "none")
        expect([name, /:read$|^(admin|backup)$/.test(scope)]).toEqual([name, true])
    }
  })

  test("allow reading without a token, except what belongs to the caller", () => {
    for (const [name, { method, path, auth, isSignIn }] of table) {
      if (/^\/v[12]\/me/.test(path)) expect([name, auth]).toEqual([name, "required"])
      if (!/^\/v\d?\//.test(path)) expect([name, auth]).toEqual([name, "none"])
      if (
        /^\/v[12]\//.test(path) &&
        auth === "none" &&
        isSignIn !== true &&
        name !== "acceptInvitation"
      )
        expect(name).toBe("a route of the API that does not look at the token")
      const isOfCaller = /\/(runs|stats|like|schedule|secrets|environment_variables)$/.test(path)
      if (method === "get" && /^\/v[12]\/vals/.test(path) && !isOfCaller)
        expect([name, auth]).toEqual([name, "optional"])
    }
  })

  test("allow writes to another user's val only as likes, comments, forks, runs on the caller's account and previews", () => {
    const open = table
      .filter(([, { method, valAccess }]) => method !== "get" && valAccess === "see")
      .map(([name]) => name)
    expect(open.sort()).toEqual([
      "callVal",
      "cancelEvaluation",
      "createComment",
      "createPreview",
      "createRun",
      "forkVal",
      "likeVal",
      "sendValRequest",
      "unlikeVal",
    ])
  })
})

describe("authorization matrix", () => {
  const route: RouteDefinition = {
    method: "get",
    path: "/v1/things",
    tag: "Things",
    summary: "",
    auth: "required",
    scope: "val:read",
    responses: {},
  }

  test("names a route with an unknown path parameter", () => {
    const unknown = { ...route, path: "/v1/things/{thing_id}" }
    expect(() => toSampleRequest("getThing", unknown, {}, "1")).toThrow(/getThing.*\{thing_id\}/)
    const owner = { token: "good", scopes: ["val:read"], isOwner: true } as const
    expect(() => expectedOf("getThing", unknown, owner, "public")).toThrow(/getThing.*\{thing_id\}/)
  })

  test("names a route that accepts no sample", () => {
    const picky = z.object({ colour: z.string().regex(/^#[0-9a-f]{6}$/) })
    expect(() =>
      toSampleRequest("paintThing", { ...route, method: "post", body: picky }, {}, "1"),
    ).toThrow(/body for route paintThing/)
    expect(() => toSampleRequest("findThing", { ...route, query: picky }, {}, "1")).toThrow(
      /query for route findThing/,
    )
    const named = { ...route, path: "/v1/vals/{val_id}", params: picky }
    expect(() => toSampleRequest("getThing", named, { val_id: "x" }, "1")).toThrow(
      /path for route getThing/,
    )
  })
})

describeSqlite("authorization", (open) => defineMatrix(open, privacies, () => true))
// The rules are the same code. Its queries are tried with vals that most callers may not see.
describePostgres("authorization", (open) => defineMatrix(open, ["private"], isJudgedByVal))

/** A bad token and a missing scope are refused before a val is read. */
function isJudgedByVal({ token, isNarrow }: TestCaller): boolean {
  return token !== "bad" && !isNarrow
}

function defineMatrix(
  open: OpenDatabase,
  tried: readonly (typeof privacies)[number][],
  isTried: (caller: TestCaller) => boolean,
): void {
  let api: TestApi
  let owner: TestUser
  let other: TestUser
  let callers: readonly TestCaller[]

  beforeAll(async () => {
    // Every user has a SQLite database, on both databases.
    const env = { HAMLET_DATA_DIR_SHARED: "yes", HAMLET_SCHEDULES_PER_USER_MAX: "100000" }
    // Who may run a val is decided before it has a process.
    api = await openApi(open, env, { runner: new FakeRunner() })
    // Deliveries must change by requests only.
    await api.hamlet.parts.webhooks.worker.stop()
    owner = await api.addUser("owner")
    other = await api.addUser("other")
    callers = (await createCallers(api, owner, other)).filter(isTried)
  })

  afterAll(() => api.close())

  // The backup comes first, while there is little to back up.
  const isBackup = ([name]: (typeof table)[number]) => name === "getBackup"
  const ordered = [...table.filter(isBackup), ...table.filter((row) => !isBackup(row))]
  for (const [name, route] of ordered) {
    // A route whose path names nothing of a val responds the same whatever vals there are.
    const isOfVal = /\{(val_id|val_name|version|comment_id|run_id|file_id)\}/.test(route.path)
    for (const [index, privacy] of (isOfVal ? tried : tried.slice(0, 1)).entries()) {
      test(`${name} responds to every caller as the rules say, with a ${privacy} val`, async () => {
        expect(
          await findFaults({
            api,
            owner,
            callers: callersFor(callers, route).filter(
              (caller) => index === 0 || isJudgedByVal(caller),
            ),
            name,
            route,
            privacy,
          }),
        ).toEqual([])
      })
    }
  }

  const createVal = async (as: TestUser, body: object) =>
    expectStatus(
      await api.call("POST", "/v1/vals", { as, body: { code: "1", privacy: "public", ...body } }),
      200,
    ).json
  const tokenWith = async (user: TestUser, scopes: readonly Scope[]) =>
    (await api.hamlet.nouns.tokens.issue(user.id, { name: "narrow", scopes, expiresAt: null })).text

  describe("tokens", () => {
    test("Bearer is read in any case, with any number of spaces after it", async () => {
      for (const authorization of [`bearer ${owner.token}`, `BEARER   ${owner.token} `]) {
        expect(
          (await api.call("GET", "/v1/me", { headers: { authorization } })).json.username,
        ).toBe("owner")
      }
    })

    test("createToken grants no scope that the caller lacks", async () => {
      const narrow = await tokenWith(owner, ["user:write", "val:read"])
      const administrator = await tokenWith(owner, ["user:write", "admin"])
      for (const [as, scope] of [
        [narrow, "val:write"],
        [narrow, "admin"],
        [owner, "admin"],
        [owner, "backup"],
        [administrator, "backup"],
      ] as const) {
        const refused = await api.call("POST", "/v1/me/tokens", {
          as,
          body: { name: `with ${scope}`, scopes: ["user:write", scope] },
        })
        expect(refused.json).toMatchObject({ statusCode: 403, code: "scope_escalation" })
        expect(refused.json.message).toContain("required permissions")
        expect(refused.json.message).toContain(scope)
      }
      const kept = await api.call("GET", "/v1/me/tokens?limit=100", { as: owner })
      expect(
        kept.json.data.filter((token: { name: string }) => token.name.startsWith("with ")),
      ).toEqual([])
    })

    test("createToken under an Idempotency-Key repeats its response to no token with fewer scopes, and to no other user", async () => {
      const headers = { "idempotency-key": "a token once" }
      const body = { name: "once", scopes: ["val:write"] }
      const send = (as: TestUser | string) =>
        api.call("POST", "/v1/me/tokens", { as, body, headers })
      const first = expectStatus(await send(owner), 200).json.token
      expect((await send(owner)).json.token).toBe(first)
      expect((await send(other)).json.token).not.toBe(first)
      expect((await send(await tokenWith(owner, ["user:write"]))).json).toMatchObject({
        statusCode: 422,
        code: "idempotency_mismatch",
      })
      expect((await send(await tokenWith(owner, ["user:read"]))).json.code).toBe("missing_scope")
    })

    test("createUser gives the new user a token with all scopes except admin", async () => {
      const created = expectStatus(
        await api.call("POST", "/v1/users", { as: api.admin, body: { username: "newcomer" } }),
        200,
      ).json
      const [token] = (await api.call("GET", "/v1/me/tokens", { as: created.token })).json.data
      expect(token.scopes).not.toContain("admin")
      expect(token.scopes).not.toContain("backup")
      expect(
        (await api.call("POST", "/v1/users", { as: created.token, body: { username: "friend" } }))
          .json.code,
      ).toBe("missing_scope")
    })

    test("listTokens and listSecrets show only the caller's", async () => {
      const lonely = await api.addUser("lonely")
      expect((await api.call("GET", "/v1/me/tokens", { as: lonely })).json.data).toHaveLength(1)
      expect((await api.call("GET", "/v1/me/secrets", { as: lonely })).json.data).toEqual([])
    })
  })

  describe("other users' vals", () => {
    test("saveVal with the name of another user's val creates a val of the caller and does not change theirs", async () => {
      const theirs = await createVal(owner, { name: "same_name" })
      const mine = expectStatus(
        await api.call("PUT", "/v1/vals", { as: other, body: { name: "same_name", code: "2" } }),
        200,
      ).json
      expect(mine).toMatchObject({ code: "2", author: { username: "other" } })
      expect((await api.call("GET", `/v1/vals/${theirs.id}`, { as: owner })).json).toEqual(theirs)
    })

    test("deleteComment is allowed to its author and to the val's owner while they can see the val", async () => {
      const val = await createVal(owner, { name: "commented" })
      const comment = async () =>
        expectStatus(
          await api.call("POST", `/v1/vals/${val.id}/comments`, {
            as: other,
            body: { comment: "hi" },
          }),
          201,
        ).json.id
      const remove = async (id: string, as: TestUser) =>
        (await api.call("DELETE", `/v1/comments/${id}`, { as })).status
      const [first, second, third] = [await comment(), await comment(), await comment()]
      expect(await remove(first, api.admin)).toBe(403)
      expect(await remove(first, other)).toBe(204)
      expect(await remove(second, owner)).toBe(204)
      expectStatus(
        await api.call("PUT", `/v1/vals/${val.id}`, { as: owner, body: { privacy: "private" } }),
        204,
      )
      expect(await remove(third, other)).toBe(404)
      expect(await remove(third, api.admin)).toBe(404)
      expect(
        (await api.call("GET", `/v1/vals/${val.id}/comments`, { as: owner })).json.data.map(
          ({ id }: { id: string }) => id,
        ),
      ).toEqual([third])
      expect(await remove(third, owner)).toBe(204)
    })

    test("getRun and getRunLogs are also allowed to the caller whose account the run is on", async () => {
      const val = await createVal(owner, { name: "run_by_other" })
      const run = toRunRecord(api, { valId: val.id, ownerId: owner.id, accountId: other.id })
      await api.hamlet.stores.runs.record([run])
      for (const path of [`/v1/runs/${run.id}`, `/v1/runs/${run.id}/logs`]) {
        expectStatus(await api.call("GET", path, { as: other }), 200)
        expectStatus(await api.call("GET", path, { as: owner }), 200)
        expect((await api.call("GET", path, { as: api.admin })).json.code).toBe("run_not_found")
      }
    })
  })
}
