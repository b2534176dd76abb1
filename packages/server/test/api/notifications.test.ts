import { expect, test } from "bun:test"
import { sql } from "@hamlet/database"
import { expectStatus, type TestUser, testBaseUrl } from "../support/api.ts"
import { describeApi, type ValView } from "./suite.ts"

const path = "/v1/me/notifications"

describeApi("api/notifications", (suite) => {
  const { call, addUser: person, val } = suite
  const listOf = async (as: TestUser) =>
    expectStatus(await call("GET", `${path}?limit=100`, { as }), 200).json.data
  const typesOf = async (as: TestUser) =>
    (await listOf(as)).map(({ type }: { type: string }) => type)
  const unreadOf = async (as: TestUser) =>
    expectStatus(await call("GET", `${path}/count`, { as }), 200).json.unread
  const like = async (as: TestUser, { id }: ValView) =>
    expectStatus(await call("PUT", `/v1/vals/${id}/like`, { as }), 204)
  const comment = async (as: TestUser, { id }: ValView, text = "Nice") =>
    expectStatus(
      await call("POST", `/v1/vals/${id}/comments`, { as, body: { comment: text } }),
      201,
    ).json
  const importIt = (as: TestUser, of: TestUser, { name }: ValView, privacy = "public") =>
    val(as, { code: `import "${testBaseUrl}/v/${of.username}/${name}"`, privacy })

  test("tell the owner about likes, comments, imports and forks of others", async () => {
    const [ada, bob] = [await person(), await person()]
    const its = await val(ada)
    await like(bob, its)
    const { id } = await comment(bob, its, "x".repeat(300))
    const importer = await importIt(bob, ada, its)
    const fork = expectStatus(
      await call("POST", `/v1/vals/${its.id}/fork`, { as: bob, body: { privacy: "public" } }),
      201,
    ).json
    const told = await listOf(ada)
    const common = { val: { id: its.id, name: its.name }, user: { id: bob.id }, readAt: null }
    const byType = Object.fromEntries(told.map((it: { type: string }) => [it.type, it]))
    expect(told).toHaveLength(4)
    expect(byType).toMatchObject({
      like: { ...common, comment: null, otherVal: null },
      comment: { ...common, comment: { id, text: "x".repeat(200) } },
      reference: { ...common, otherVal: { id: importer.id, author: { id: bob.id } } },
      fork: { ...common, otherVal: { id: fork.id } },
    })
    expect(await unreadOf(ada)).toBe(4)
    expect(await listOf(bob)).toEqual([])
  })

  test("do not tell what the owner does, and the same thing once", async () => {
    const [ada, bob] = [await person(), await person()]
    const its = await val(ada)
    await like(ada, its)
    await comment(ada, its)
    await importIt(ada, ada, its)
    expect(await listOf(ada)).toEqual([])
    await like(bob, its)
    await call("DELETE", `/v1/vals/${its.id}/like`, { as: bob })
    await like(bob, its)
    expect(await typesOf(ada)).toEqual(["like"])
  })

  test("neither show nor count an import that is not public, or no longer", async () => {
    const [ada, bob] = [await person(), await person()]
    const its = await val(ada)
    await importIt(bob, ada, its, "private")
    await importIt(bob, ada, its, "unlisted")
    expect([await typesOf(ada), await unreadOf(ada)]).toEqual([[], 0])
    const { id } = await importIt(bob, ada, its)
    expect([await typesOf(ada), await unreadOf(ada)]).toEqual([["reference"], 1])
    await call("PUT", `/v1/vals/${id}`, { as: bob, body: { privacy: "private" } })
    expect([await typesOf(ada), await unreadOf(ada)]).toEqual([[], 0])
    const fork = `/v1/vals/${its.id}/fork`
    expectStatus(await call("POST", fork, { as: bob, body: { privacy: "private" } }), 201)
    expect(await typesOf(ada)).toEqual([])
  })

  test("are marked as read, some or all, by their user alone", async () => {
    const [ada, bob] = [await person(), await person()]
    const its = await val(ada)
    await comment(bob, its, "one")
    await comment(bob, its, "two")
    const [first] = await listOf(ada)
    const read = async (as: TestUser, body: object) =>
      expectStatus(await call("PUT", `${path}/read`, { as, body }), 204)
    await read(bob, { ids: [first.id] })
    await read(bob, {})
    expect(await unreadOf(ada)).toBe(2)
    await read(ada, { ids: [first.id] })
    expect(await unreadOf(ada)).toBe(1)
    await read(ada, {})
    expect(await unreadOf(ada)).toBe(0)
    expect((await listOf(ada)).every(({ readAt }: { readAt: unknown }) => readAt !== null)).toBe(
      true,
    )
  })

  test("of a muted type are not written", async () => {
    const [ada, bob] = [await person(), await person()]
    const its = await val(ada)
    const settings = `${path}/settings`
    const body = { muted: ["like", "like"] }
    expect((await call("PUT", settings, { as: ada, body })).json).toEqual({ muted: ["like"] })
    await like(bob, its)
    await comment(bob, its)
    expect(await typesOf(ada)).toEqual(["comment"])
    await call("PUT", settings, { as: ada, body: { muted: [] } })
    expect((await call("GET", settings, { as: ada })).json).toEqual({ muted: [] })
    await like(await person(), its)
    expect(await typesOf(ada)).toEqual(["like", "comment"])
  })

  test("tell about a schedule that fails", async () => {
    const ada = await person()
    const its = await val(ada, { type: "interval" })
    const schedule = { as: ada, body: { every: "300d" } }
    expectStatus(await call("PUT", `/v1/vals/${its.id}/schedule`, schedule), 200)
    await suite.database.db.write(function* () {
      yield sql`update schedules set notice = 'failing', failure_count = 3 where val_id = ${its.id}`
    })
    await suite.api.hamlet.stores.schedules.tellOwners(100)
    expect(await listOf(ada)).toMatchObject([{ type: "schedule.failing", user: null }])
  })

  test("disappear with the comment, the user or the val, and beyond 500", async () => {
    const [ada, bob] = [await person(), await person()]
    const its = await val(ada)
    const { id } = await comment(bob, its)
    expectStatus(await call("DELETE", `/v1/comments/${id}`, { as: bob }), 204)
    expect(await listOf(ada)).toEqual([])
    await suite.database.db.write(function* () {
      for (let count = 0; count < 505; count++)
        yield sql`insert into notifications (id, owner_id, type, key, val_id, created_at)
          values (${crypto.randomUUID()}, ${ada.id}, 'like', ${`k${count}`}, ${its.id}, ${Date.now() - 1000})`
    })
    await like(bob, its)
    expect(await unreadOf(ada)).toBe(500)
    expectStatus(await call("DELETE", `/v1/vals/${its.id}`, { as: ada }), 204)
    expect(await unreadOf(ada)).toBe(0)
  })
})
