import { expect, test } from "bun:test"
import { createValStore } from "../../src/storage/vals/vals.ts"
import { expectStatus, type TestUser } from "../support/api.ts"
import { describeSqliteApi, nextMillisecond } from "./suite.ts"

describeSqliteApi("GET /v1/me/val-states", (suite) => {
  const { call, addUser: person, val } = suite
  const statesOf = async (as: TestUser, etag = "") =>
    call("GET", "/v1/me/val-states", { as, headers: { "if-none-match": etag } })

  test("lists all vals of the caller by name, of every privacy, and no others", async () => {
    const [ada, bob] = [await person(), await person()]
    await val(bob, { name: "other", privacy: "public" })
    for (const [name, privacy] of [
      ["zebra", "private"],
      ["Ant", "public"],
      ["bee", "unlisted"],
    ] as const)
      await val(ada, { name, privacy })
    const { json } = expectStatus(await statesOf(ada), 200)
    expect(json).toEqual({
      data: [
        {
          id: expect.any(String),
          name: "Ant",
          version: 1,
          privacy: "public",
          type: "script",
          updatedAt: expect.any(String),
        },
        {
          id: expect.any(String),
          name: "bee",
          version: 1,
          privacy: "unlisted",
          type: "script",
          updatedAt: expect.any(String),
        },
        {
          id: expect.any(String),
          name: "zebra",
          version: 1,
          privacy: "private",
          type: "script",
          updatedAt: expect.any(String),
        },
      ],
      hasMore: false,
    })
    expect((await statesOf(await person())).json).toEqual({ data: [], hasMore: false })
  })

  test("is 304 until a val changes", async () => {
    const ada = await person()
    const { id } = await val(ada, { name: "hello", code: "1" })
    let etag = ""
    const changes: readonly (() => Promise<unknown>)[] = [
      async () => {},
      () => call("POST", `/v1/vals/${id}/versions`, { as: ada, body: { code: "2" } }),
      () => call("PUT", `/v1/vals/${id}`, { as: ada, body: { name: "renamed" } }),
      () => call("PUT", `/v1/vals/${id}`, { as: ada, body: { name: "Renamed" } }),
      () => call("PUT", `/v1/vals/${id}`, { as: ada, body: { privacy: "unlisted" } }),
      () => call("PUT", `/v1/vals/${id}`, { as: ada, body: { type: "http" } }),
      () => call("DELETE", `/v1/vals/${id}/versions/3`, { as: ada }),
      () => val(ada, { name: "second" }),
      () => call("DELETE", `/v1/vals/${id}`, { as: ada }),
    ]
    for (const [index, change] of changes.entries()) {
      await change()
      const { status, headers } = await statesOf(ada, etag)
      expect([index, status]).toEqual([index, 200])
      etag = headers.get("etag") ?? ""
      expectStatus(await statesOf(ada, etag), 304)
    }
  })

  test("reports when there are more vals than it lists", async () => {
    const ada = await person()
    for (const name of ["c", "a", "b"]) await val(ada, { name })
    const store = createValStore(suite.database.db)
    const read = async (countMax: number) => {
      const { items, hasMore } = await store.listStates(ada.id, countMax)
      return [items.map(({ name }) => name).join(""), hasMore]
    }
    expect([await read(2), await read(3)]).toEqual([
      ["ab", true],
      ["abc", false],
    ])
  })

  test("changes updatedAt with every change of a val, and with nothing else", async () => {
    const ada = await person()
    const { id } = await val(ada, { name: "hello", code: "1" })
    const read = async () => (await statesOf(ada)).json.data[0].updatedAt as string
    const before = await read()
    await call("PUT", `/v1/vals/${id}/like`, { as: await person() })
    await call("POST", `/v1/vals/${id}/versions`, { as: ada, body: { code: "1" } })
    expect(await read()).toBe(before)
    await nextMillisecond()
    await call("PUT", `/v1/vals/${id}`, { as: ada, body: { readme: "# Hello" } })
    expect((await read()) > before).toBe(true)
  })
})
