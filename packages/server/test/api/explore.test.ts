import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { expectStatus, openApi, type TestApi, type TestUser } from "../support/api.ts"
import { describeEachDatabase } from "../support/databases.ts"
import { nextMillisecond, type ValView } from "./suite.ts"

describeEachDatabase("api/explore", (open) => {
  let api: TestApi
  let ada: TestUser
  let bob: TestUser
  let carl: TestUser
  const vals: Record<string, ValView> = {}

  beforeAll(async () => {
    api = await openApi(open)
    ada = await api.addUser("ada")
    bob = await api.addUser("bob")
    carl = await api.addUser("carl")
    for (const name of ["one", "two", "three", "four"]) {
      vals[name] = await add(ada, { name, privacy: "public" })
      await nextMillisecond()
    }
    vals.hidden = await add(ada, { name: "hidden", privacy: "private" })
    vals.unlisted = await add(ada, { name: "unlisted", privacy: "unlisted" })
    for (const who of [ada, bob, carl]) await like(who, "one")
    for (const who of [ada, bob]) await like(who, "unlisted")
    await like(ada, "hidden")
    await like(bob, "three")
    const counts = { two: 5, one: 2, hidden: 100, unlisted: 50 }
    await api.hamlet.stores.vals.addRunCounts(
      new Map(Object.entries(counts).map(([name, runs]) => [vals[name]?.id ?? "", runs])),
    )
  })
  afterAll(() => api.close())

  const add = async (as: TestUser, fields: object): Promise<ValView> =>
    expectStatus(await api.call("POST", "/v1/vals", { as, body: { code: "1", ...fields } }), 200)
      .json
  const like = async (as: TestUser, name: string, method = "PUT") =>
    expectStatus(await api.call(method, `/v1/vals/${vals[name]?.id}/like`, { as }), 204)
  const names = async (query: string, as?: TestUser): Promise<readonly string[]> =>
    expectStatus(await api.call("GET", `/v1/vals?${query}`, { as }), 200).json.data.map(
      ({ name }: ValView) => name,
    )

  describe("GET /v1/vals?sort", () => {
    test("orders public vals by likes and by runs, the newest first among equals", async () => {
      expect(await names("sort=likes")).toEqual(["one", "three", "four", "two"])
      expect(await names("sort=runs")).toEqual(["two", "one", "four", "three"])
    })

    test("has no vals that are not public, also for their owner", async () => {
      for (const sort of ["likes", "runs", "trend"]) {
        expect((await names(`sort=${sort}`, ada)).toSorted()).toEqual([
          "four",
          "one",
          "three",
          "two",
        ])
        expect(await names(`sort=${sort}&privacy=private`, ada)).toEqual([])
      }
    })

    test("goes on after a cursor without skipping or repeating a val", async () => {
      for (const sort of ["likes", "runs", "trend"]) {
        const all = await names(`sort=${sort}`)
        const found: string[] = []
        let path: string | undefined = `/v1/vals?sort=${sort}&limit=1`
        while (path !== undefined) {
          const { data, links }: { data: ValView[]; links: { next?: string } } = expectStatus(
            await api.call("GET", path),
            200,
          ).json
          found.push(...data.map(({ name }) => name))
          path = links.next && new URL(links.next).pathname + new URL(links.next).search
        }
        expect(found).toEqual([...all])
      }
    })

    test("by trend puts the val with the latest likes first, and forgets a like that is withdrawn", async () => {
      const { vals: store, likes } = api.hamlet.stores
      const dayMs = 86_400_000
      const ago = (days: number) => Date.now() - days * dayMs
      const [old, fresh] = [
        await add(carl, { name: "old", privacy: "public" }),
        await add(carl, { name: "fresh", privacy: "public" }),
      ]
      for (const who of [ada, bob]) await likes.add(who.id, old.id, ago(60), () => {})
      await likes.add(carl.id, fresh.id, ago(30), () => {})
      const rank = async () =>
        (await store.listRanked("trend", undefined, { limit: 100, offset: 0 })).items
          .map(({ name }) => name)
          .filter((name) => name === "old" || name === "fresh")
      expect(await rank()).toEqual(["fresh", "old"])
      await likes.add(carl.id, old.id, ago(1), () => {})
      expect(await rank()).toEqual(["old", "fresh"])
      await likes.remove(carl.id, old.id)
      expect(await rank()).toEqual(["fresh", "old"])
      for (const { id } of [old, fresh])
        expectStatus(await api.call("DELETE", `/v1/vals/${id}`, { as: carl }), 204)
    })

    test("orders the vals of one user", async () => {
      const [ofAda, ofBob] = [`userId=${ada.id}`, `userId=${bob.id}`]
      expect(await names(`sort=likes&${ofAda}`)).toEqual(["one", "three", "four", "two"])
      expect(await names(`sort=runs&${ofBob}`)).toEqual([])
    })

    test("refuses an unknown order", async () => {
      expectStatus(await api.call("GET", "/v1/vals?sort=best"), 400)
    })
  })

  describe("?omit", () => {
    const readme = `# Title\n\nSays hello.\n${"x".repeat(40_000)}`
    const lists = (id: string) => [
      "/v1/vals?",
      "/v1/vals?sort=likes&",
      "/v1/me/vals?",
      "/v1/me/likes?",
      "/v1/search/vals?query=texts_&",
      `/v1/users/${id}/vals?`,
    ]

    test("leaves code and readme out of every list of vals, and keeps the summary", async () => {
      const dora = await api.addUser("dora")
      const val = await add(dora, { name: "texts_1", readme, privacy: "public", code: "let a = 1" })
      expectStatus(await api.call("PUT", `/v1/vals/${val.id}/like`, { as: dora }), 204)
      const fork: ValView = expectStatus(
        await api.call("POST", `/v1/vals/${val.id}/fork`, { as: dora, body: { name: "texts_2" } }),
        201,
      ).json
      const find = async (path: string, wanted = val.id): Promise<ValView> =>
        expectStatus(await api.call("GET", path, { as: dora }), 200).json.data.find(
          ({ id }: ValView) => id === wanted,
        )
      const summary = "Says hello."
      for (const list of lists(dora.id)) {
        expect(await find(list)).toMatchObject({ code: "let a = 1", readme, summary })
        expect(await find(`${list}omit=code`)).toMatchObject({ code: "", readme, summary })
        expect(await find(`${list}omit=readme`)).toMatchObject({
          code: "let a = 1",
          readme: null,
          summary,
        })
        const { text } = await api.call("GET", `${list}omit=code,readme`, { as: dora })
        expect(text).not.toContain("let a = 1")
        expect(text.length).toBeLessThan(10_000)
        expect(await find(`${list}omit=code,readme`)).toEqual({
          ...(await find(list)),
          code: "",
          readme: null,
        })
      }
      const forks = `/v1/vals/${val.id}/forks?omit=code&omit=readme`
      expect(await find(forks, fork.id)).toMatchObject({ code: "", readme: null, summary })
    })

    test("is part of the links to other pages", async () => {
      const { links } = (await api.call("GET", "/v1/vals?limit=1&omit=code", { as: ada })).json
      expect(new URL(links.next).searchParams.get("omit")).toBe("code")
    })

    test("refuses other texts", async () => {
      expectStatus(await api.call("GET", "/v1/vals?omit=name"), 400)
    })
  })
})
