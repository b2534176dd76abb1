import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { type RouteDefinition, routes } from "@hamlet/contract"
import {
  type HiddenAndMissing,
  requestBoth,
  routesThatMayHide,
} from "./authorization/hidden-and-missing.ts"
import {
  createPrivacyData,
  type PrivacyData,
  type PrivacyVal,
} from "./authorization/privacy-data.ts"
import { findLeaks } from "./authorization/sweep.ts"
import { expectStatus, openApi, type TestApi, type TestUser, testBaseUrl } from "./support/api.ts"
import { describePostgres, describeSqlite, type OpenDatabase } from "./support/databases.ts"

describeSqlite("privacy", (open) => definePrivacy(open, { isWhole: true }))
// Who sees what is said by the same statements: one viewer reads everything here, too.
describePostgres("privacy", (open) => definePrivacy(open, { isWhole: false }))

function definePrivacy(open: OpenDatabase, { isWhole }: { readonly isWhole: boolean }): void {
  let api: TestApi
  let data: PrivacyData

  beforeAll(async () => {
    api = await openApi(open)
    data = await createPrivacyData(api)
  })

  afterAll(() => api.close())

  const get = async (path: string, as?: TestUser) =>
    expectStatus(await api.call("GET", path, { as }), 200).json
  const names = async (path: string, as?: TestUser, pick = (item: Item) => item.name) =>
    ((await get(path, as)).data as Item[]).map(pick).sort()

  describe("every route that reads", () => {
    test("shows nothing of a hidden val to a user who used it when it was public", async () => {
      expect(await findLeaks(api, data, data.bob)).toEqual([])
    })

    if (!isWhole) return

    test("shows nothing of a hidden val without a token", async () => {
      expect(await findLeaks(api, data, undefined)).toEqual([])
    })

    test("shows nothing of a hidden val to a user whose val it imports", async () => {
      expect(await findLeaks(api, data, data.ada)).toEqual([])
    })

    test("shows an administrator no more than other users", async () => {
      expect(await findLeaks(api, data, api.admin)).toEqual([])
    })
  })

  describe("lists of vals", () => {
    const everything = [
      "closed_of_ada",
      "delisted_of_ada",
      "open_of_ada",
      "secret_of_ada",
      "unlisted_of_ada",
    ]

    test("GET /v1/vals shows the owner all their vals, and others the public ones", async () => {
      const path = `/v1/vals?userId=${data.ada.id}`
      expect(await names(path, data.ada)).toEqual(everything)
      for (const viewer of [undefined, data.bob, api.admin])
        expect(await names(path, viewer)).toEqual(["open_of_ada"])
      expect(await names(`${path}&privacy=private`, data.ada)).toEqual([
        "closed_of_ada",
        "secret_of_ada",
      ])
      expect(await names(`${path}&privacy=unlisted`, data.ada)).toEqual([
        "delisted_of_ada",
        "unlisted_of_ada",
      ])
      for (const privacy of ["private", "unlisted"])
        expect(await names(`${path}&privacy=${privacy}`, data.bob)).toEqual([])
    })

    test("GET /v1/users/{user_id}/vals shows the owner all their vals, and others the public ones", async () => {
      const path = `/v1/users/${data.ada.id}/vals`
      expect(await names(path, data.ada)).toEqual(everything)
      for (const viewer of [undefined, data.bob, api.admin])
        expect(await names(path, viewer)).toEqual(["open_of_ada"])
    })

    test("GET /v1/search/vals finds hidden vals for their owner only, by name, code and readme", async () => {
      for (const word of ["_of_ada", "code_of_", "readme_of_"]) {
        expect(
          (await names(`/v1/search/vals?query=${word}`, data.ada)).filter((name) =>
            name.endsWith("_ada"),
          ),
        ).toEqual(everything)
        for (const viewer of [undefined, data.bob, api.admin]) {
          expect(
            (await names(`/v1/search/vals?query=${word}`, viewer)).filter((name) =>
              name.endsWith("_ada"),
            ),
          ).toEqual(["open_of_ada"])
        }
      }
    })

    test("GET /v1/me/likes leaves out vals that became private, and keeps the caller's own", async () => {
      expect(
        (await names("/v1/me/likes", data.ada)).filter((name) => name.endsWith("_ada")),
      ).toEqual(everything)
      const seen = ["delisted_of_ada", "open_of_ada", "unlisted_of_ada"]
      expect(
        (await names("/v1/me/likes", data.bob)).filter((name) => name.endsWith("_ada")),
      ).toEqual(seen)
    })
  })

  describe("a val's own routes", () => {
    const paths = (val: PrivacyVal) => {
      const at = `/v1/vals/${val.id}`
      const module = `/v/${val.owner.username}/${val.name}`
      const parts = [
        "",
        "/versions",
        "/versions/1",
        "/comments",
        "/references",
        "/dependencies",
      ].map((part) => at + part)
      return [
        ...parts,
        `/v1/alias/${val.owner.username}/${val.name}`,
        `/v1/alias/@${val.owner.username}/${val.name}`,
        module,
        `${module}@1`,
      ]
    }

    test("are open to all for an unlisted val", async () => {
      for (const val of [data.adas.unlisted, data.adas.delisted]) {
        for (const path of paths(val))
          for (const viewer of [undefined, data.bob, data.ada])
            await expectAnswer(path, viewer, 200)
      }
    })

    test("are closed to all but the owner of a private val, also to its former users", async () => {
      for (const val of [data.adas.secret, data.adas.closed]) {
        for (const path of paths(val)) {
          for (const viewer of [undefined, data.bob, api.admin])
            await expectAnswer(path, viewer, 404)
          await expectAnswer(path, data.ada, 200)
        }
      }
    })

    test("do not confirm a cached copy from when the val was public", async () => {
      const tags = Object.entries(data.adas.closed.etags)
      expect(tags).toHaveLength(5)
      for (const [path, etag] of tags) {
        const headers = { "if-none-match": etag }
        expect((await api.call("GET", path, { as: data.bob, headers })).status).toBe(404)
        expect((await api.call("HEAD", path, { headers })).status).toBe(404)
      }
    })

    test("GET /v/{username}/{val_name} lets no shared cache store a private module", async () => {
      const path = `/v/ada/${data.adas.closed.name}`
      for (const pinned of ["", "@1"]) {
        const response = expectStatus(await api.call("GET", path + pinned, { as: data.ada }), 200)
        expect(response.headers.get("cache-control")).toStartWith("private,")
        expect(response.headers.get("vary")).toContain("authorization")
      }
    })

    const expectAnswer = async (path: string, viewer: TestUser | undefined, status: number) => {
      const response = await api.call("GET", path, { as: viewer })
      expect(`${path} ${response.status}`).toBe(`${path} ${status}`)
    }
  })

  describe("references", () => {
    const from = (item: Item) => item.reference.name
    const to = (item: Item) => item.dependsOn.name

    test("GET /v1/me/references leaves out hidden vals of others that import the caller's", async () => {
      expect(
        await names("/v1/me/references", data.bob, (item) => `${from(item)} ${to(item)}`),
      ).toEqual(["open_of_ada lib_of_bob"])
      const toOpen = (item: Item) => (to(item) === "open_of_ada" ? from(item) : "")
      expect(
        (await names("/v1/me/references", data.ada, toOpen)).filter((name) => name !== ""),
      ).toEqual(["app_of_bob"])
    })

    test("GET /v1/me/references shows the owner the importers of their hidden vals", async () => {
      const fromApp = (item: Item) => (from(item) === "app_of_bob" ? to(item) : "")
      const found = (await names("/v1/me/references", data.ada, fromApp)).filter(
        (name) => name !== "",
      )
      expect(found).toEqual([
        "closed_of_ada",
        "delisted_of_ada",
        "open_of_ada",
        "secret_of_ada",
        "unlisted_of_ada",
      ])
    })

    test("GET /v1/vals/{val_id}/references shows the importers that the viewer can find", async () => {
      const path = `/v1/vals/${data.bobs.lib.id}/references`
      for (const viewer of [undefined, data.bob, api.admin])
        expect(await names(path, viewer, from)).toEqual(["open_of_ada"])
      expect(await names(path, data.ada, from)).toEqual([
        "closed_of_ada",
        "delisted_of_ada",
        "open_of_ada",
        "secret_of_ada",
        "unlisted_of_ada",
      ])
    })

    test("GET /v1/vals/{val_id}/dependencies shows the imported vals that the viewer can find", async () => {
      const path = `/v1/vals/${data.bobs.app.id}/dependencies`
      for (const viewer of [undefined, data.bob, api.admin])
        expect(await names(path, viewer, to)).toEqual(["open_of_ada"])
      expect(await names(path, data.ada, to)).toEqual([
        "closed_of_ada",
        "delisted_of_ada",
        "open_of_ada",
        "secret_of_ada",
        "unlisted_of_ada",
      ])
    })
  })

  describe("counts", () => {
    test("referenceCount counts no hidden val, for any caller", async () => {
      for (const viewer of [undefined, data.ada, data.bob, api.admin]) {
        expect((await get(`/v1/vals/${data.bobs.lib.id}`, viewer)).referenceCount).toBe(1)
        expect((await get(`/v1/vals/${data.adas.open.id}`, viewer)).referenceCount).toBe(1)
      }
    })

    test("referenceCount follows the privacy of the importing val through every change", async () => {
      const { ada, bob } = data
      const target = expectStatus(
        await api.call("POST", "/v1/vals", {
          as: ada,
          body: { name: "target", code: "1", privacy: "public" },
        }),
        200,
      ).json
      const code = `import "${testBaseUrl}/v/ada/target"`
      const importer = expectStatus(
        await api.call("POST", "/v1/vals", { as: bob, body: { name: "importer", code } }),
        200,
      ).json
      const at = `/v1/vals/${importer.id}`
      const count = async () => (await get(`/v1/vals/${target.id}`)).referenceCount
      const change = async (body: object) => {
        expectStatus(await api.call("PUT", at, { as: bob, body }), 204)
        return count()
      }
      expect(await count()).toBe(0)
      expect(await change({ privacy: "public" })).toBe(1)
      expect(await change({ privacy: "unlisted" })).toBe(0)
      expect(await change({ privacy: "private" })).toBe(0)
      expect(await change({ privacy: "public", name: "importer_two" })).toBe(1)
      expectStatus(
        await api.call("POST", `${at}/versions`, {
          as: bob,
          body: { code: "2", privacy: "private" },
        }),
        201,
      )
      expect(await count()).toBe(0)
      // The version that becomes current again imports the target, but the val is private by now.
      expectStatus(await api.call("DELETE", `${at}/versions/2`, { as: bob }), 204)
      expect(await count()).toBe(0)
      expect(await change({ privacy: "public" })).toBe(1)
      expectStatus(await api.call("DELETE", at, { as: bob }), 204)
      expect(await count()).toBe(0)
      expectStatus(await api.call("DELETE", `/v1/vals/${target.id}`, { as: ada }), 204)
    })
  })

  describe("counts of a val that is created after its importers", () => {
    test("leave out hidden importers when it is created and when it is renamed", async () => {
      const { ada, bob } = data
      const create = async (as: TestUser, body: object) =>
        expectStatus(await api.call("POST", "/v1/vals", { as, body }), 200).json
      for (const privacy of ["private", "unlisted", "public"]) {
        const code = `import "${testBaseUrl}/v/ada/late"; import "${testBaseUrl}/v/ada/later"`
        await create(bob, { name: `early_${privacy}`, code, privacy })
      }
      const late = await create(ada, { name: "late", code: "1", privacy: "public" })
      expect(late.referenceCount).toBe(1)
      expectStatus(
        await api.call("PUT", `/v1/vals/${late.id}`, { as: ada, body: { name: "later" } }),
        204,
      )
      expect((await get(`/v1/vals/${late.id}`)).referenceCount).toBe(1)
      expect(
        await names(`/v1/vals/${late.id}/references`, ada, (item) => item.reference.name),
      ).toEqual(["early_public"])
    })
  })

  describe("comments", () => {
    const on = (item: Item) => `${item.author.username} on ${item.val.name}`

    test("GET /v1/me/comments leaves out the caller's comments on a val that is now private", async () => {
      const given = await names("/v1/me/comments?relationship=given", data.bob, on)
      const onAdas = given.filter((comment) => comment.endsWith("_ada"))
      expect(onAdas).toEqual([
        "bob on delisted_of_ada",
        "bob on open_of_ada",
        "bob on unlisted_of_ada",
      ])
    })

    test("GET /v1/me/comments shows the owner of a val that is now private others' comments on it", async () => {
      const received = await names("/v1/me/comments?relationship=received", data.ada, on)
      expect(received).toEqual([
        "bob on closed_of_ada",
        "bob on delisted_of_ada",
        "bob on open_of_ada",
        "bob on unlisted_of_ada",
      ])
    })

    test("GET /v1/vals/{val_id}/comments shows the owner of a val that is now private all comments", async () => {
      const path = `/v1/vals/${data.adas.closed.id}/comments`
      expect(await names(path, data.ada, on)).toEqual([
        "ada on closed_of_ada",
        "bob on closed_of_ada",
      ])
    })
  })

  describe("runs", () => {
    const of = (item: Item) => item.val.name

    test("GET /v1/me/runs leaves out runs of a val that is now private", async () => {
      const ofAdas = (await names("/v1/me/runs", data.bob, of)).filter((name) =>
        name.endsWith("_ada"),
      )
      expect(ofAdas).toEqual(["delisted_of_ada", "open_of_ada", "unlisted_of_ada"])
    })

    test("GET /v1/vals/{val_id}/runs shows the owner every run, and others their own runs", async () => {
      const { open: shown, closed } = data.adas
      expect(await names(`/v1/vals/${shown.id}/runs`, data.ada, (item) => item.id)).toEqual(
        [...shown.runIds].sort(),
      )
      expect(await names(`/v1/vals/${shown.id}/runs`, data.bob, (item) => item.id)).toEqual(
        shown.runIds.slice(1),
      )
      expect(await names(`/v1/vals/${shown.id}/runs`, api.admin, (item) => item.id)).toEqual([])
      expect(await names(`/v1/vals/${closed.id}/runs`, data.ada, (item) => item.id)).toEqual(
        [...closed.runIds].sort(),
      )
    })

    test("GET /v1/runs/{run_id} and its logs are visible to the val's owner, and to the caller while they can see the val", async () => {
      const expectRun = async (runId: string | undefined, viewer: TestUser, status: number) => {
        for (const part of ["", "/logs"])
          expectStatus(await api.call("GET", `/v1/runs/${runId}${part}`, { as: viewer }), status)
      }
      for (const val of [
        data.adas.open,
        data.adas.unlisted,
        data.adas.delisted,
        data.adas.closed,
      ]) {
        const [byAda, byBob] = val.runIds
        await expectRun(byAda, data.ada, 200)
        await expectRun(byBob, data.ada, 200)
        await expectRun(byAda, data.bob, 404)
        await expectRun(byBob, data.bob, val === data.adas.closed ? 404 : 200)
        await expectRun(byBob, api.admin, 404)
      }
    })
  })

  describe("a hidden val and a missing val", () => {
    const twinsOf = (): HiddenAndMissing => {
      const { closed } = data.adas
      const hidden = {
        val_id: closed.id,
        branch_id: closed.id,
        file_id: closed.id,
        val_name: closed.name,
        comment_id: closed.commentIds[1] ?? "",
        run_id: closed.runIds[1] ?? "",
      }
      const absentId = newId()
      const absent = {
        val_name: "absent_of_ada",
        val_id: absentId,
        branch_id: absentId,
        file_id: absentId,
        comment_id: newId(),
        run_id: newId(),
      }
      return { hidden, absent }
    }
    const newId = () => Bun.randomUUIDv7()

    test("get the same response on every route, except for the owner", async () => {
      const pair = twinsOf()
      const checked = routesThatMayHide(pair)
      expect(checked.length).toBeGreaterThan(15)
      for (const name of checked) {
        const route: RouteDefinition = routes[name as keyof typeof routes]
        const viewers =
          route.auth === "required" ? [data.bob, api.admin] : [data.bob, api.admin, undefined]
        for (const viewer of viewers) {
          for (const version of ["1", "99"]) {
            for (const { hidden, absent } of await requestBoth(
              api,
              name,
              pair,
              { username: "ada", version, name: "KEY", variable: "key", file_path: "main.tsx" },
              viewer,
            )) {
              expect(`${name}\n${hidden}`).toBe(`${name}\n${absent}`)
              expect(hidden).toStartWith("404\n")
            }
          }
        }
      }
    })

    test("get the same response on every route with an Idempotency-Key", async () => {
      const { hidden, absent } = twinsOf()
      const statuses = []
      for (const { val_id: valId } of [hidden, absent]) {
        const headers = { "idempotency-key": `comment on ${valId}` }
        const send = () =>
          api.call("POST", `/v1/vals/${valId}/comments`, {
            as: data.bob,
            body: { comment: "hello" },
            headers,
          })
        statuses.push([(await send()).json.code, (await send()).json.code])
      }
      expect(statuses).toEqual([
        ["val_not_found", "val_not_found"],
        ["val_not_found", "val_not_found"],
      ])
    })
  })
}

/** What the tests read of the items of lists. */
interface Item {
  readonly id: string
  readonly name: string
  readonly author: { readonly username: string }
  readonly val: { readonly name: string }
  readonly reference: { readonly name: string }
  readonly dependsOn: { readonly name: string }
}
