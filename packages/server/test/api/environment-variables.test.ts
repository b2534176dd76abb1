import { expect, test } from "bun:test"
import { limits } from "@hamlet/contract"
import { expectStatus, type TestUser } from "../support/api.ts"
import { describeSqliteApi, nextMillisecond, refusalOf, type ValView } from "./suite.ts"

describeSqliteApi("api/environment-variables", (suite) => {
  const { call, addUser, val } = suite
  const pathOf = ({ id }: ValView, key = "") =>
    `/v2/vals/${id}/environment_variables${key && `/${key}`}`
  const create = (as: TestUser, its: ValView, body: object) =>
    call("POST", pathOf(its), { as, body })
  const read = async ({ id }: ValView) => {
    const { stores, parts } = suite.api.hamlet
    const sealed = await stores.valSecrets.listSealed(id)
    return Object.fromEntries(
      sealed.map((it) => [it.name, parts.cipher.open(it.sealed, `val secret:${id}:${it.name}`)]),
    )
  }

  test("are created, listed, changed and deleted", async () => {
    const ada = await addUser()
    const its = await val(ada)
    const made = expectStatus(
      await create(ada, its, { key: "apiKey", value: "one", description: "for tests" }),
      201,
    ).json
    const time = expect.stringMatching(/^\d{4}-.*Z$/)
    expect(made).toEqual({
      key: "apiKey",
      description: "for tests",
      createdAt: time,
      updatedAt: null,
    })
    const changed = expectStatus(
      await call("PUT", pathOf(its, "apiKey"), { as: ada, body: { value: "two" } }),
      201,
    ).json
    expect(changed).toEqual({ ...made, updatedAt: time })
    expect(await read(its)).toEqual({ apiKey: "two" })
    await nextMillisecond()
    expectStatus(await create(ada, its, { key: "B", value: "" }), 201)
    const { json } = await call("GET", pathOf(its), { as: ada })
    expect(json.data.map(({ key }: { key: string }) => key)).toEqual(["B", "apiKey"])
    expect(json.links.self).toContain(pathOf(its))
    expect(JSON.stringify(json)).not.toContain("two")
    expectStatus(await call("DELETE", pathOf(its, "apiKey"), { as: ada }), 204)
    expect(refusalOf(await call("DELETE", pathOf(its, "apiKey"), { as: ada }))).toEqual([
      404,
      "secret_not_found",
    ])
  })

  test("are the secrets of the val: hosts stay, and a description can be cleared", async () => {
    const ada = await addUser()
    const its = await val(ada)
    const secret = `/v1/vals/${its.id}/secrets`
    const hosts = ["api.hamlet.test"]
    const body = { value: "one", hosts, description: "mine" }
    expectStatus(await call("PUT", `${secret}/KEY`, { as: ada, body }), 204)
    expectStatus(await call("PUT", pathOf(its, "KEY"), { as: ada, body: { value: "two" } }), 201)
    const list = async () => (await call("GET", secret, { as: ada })).json.data
    expect(await list()).toMatchObject([{ name: "KEY", hosts, description: "mine" }])
    const cleared = { value: "two", description: null }
    expectStatus(await call("PUT", pathOf(its, "KEY"), { as: ada, body: cleared }), 201)
    expect(await list()).toMatchObject([{ description: null }])
    expectStatus(await call("PUT", `${secret}/KEY`, { as: ada, body: { value: "three" } }), 204)
    expect(await list()).toMatchObject([{ hosts: null }])
  })

  test("are refused when they exist, are missing or too many", async () => {
    const ada = await addUser()
    const its = await val(ada)
    expect(
      refusalOf(await call("PUT", pathOf(its, "KEY"), { as: ada, body: { value: "v" } })),
    ).toEqual([404, "secret_not_found"])
    expectStatus(await create(ada, its, { key: "KEY", value: "first" }), 201)
    const again = await create(ada, its, { key: "KEY", value: "second" })
    expect(refusalOf(again)).toEqual([409, "secret_exists"])
    expect(again.headers.get("x-should-retry")).toBe("false")
    expect(await read(its)).toEqual({ KEY: "first" })
    for (let count = 1; count < limits.secretsPerValMax; count++)
      expectStatus(await create(ada, its, { key: `K${count}`, value: "" }), 201)
    expect(refusalOf(await create(ada, its, { key: "K", value: "" }))).toEqual([
      409,
      "too_many_secrets",
    ])
    expectStatus(await call("PUT", pathOf(its, "KEY"), { as: ada, body: { value: "v" } }), 201)
  })

  test("are created once by concurrent requests", async () => {
    const ada = await addUser()
    const its = await val(ada)
    const made = await Promise.all(
      Array.from({ length: 5 }, (_, index) => create(ada, its, { key: "K", value: `v${index}` })),
    )
    expect(made.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409])
  })

  test("reject wrong names and values", async () => {
    const ada = await addUser()
    const its = await val(ada)
    for (const body of [
      {},
      { key: "K" },
      { key: "", value: "v" },
      { key: "A=B", value: "v" },
      { key: "A\0B", value: "v" },
      { key: "..", value: "v" },
      { key: "K".repeat(257), value: "v" },
      { key: "K", value: "v".repeat(8_193) },
      { key: "K", value: "a\0b" },
      { key: "K", value: "v", description: "d".repeat(1_025) },
    ])
      expect(refusalOf(await create(ada, its, body))).toEqual([400, "invalid_request"])
    const longest = { key: "K".repeat(256), value: "v".repeat(8_192), description: "" }
    expectStatus(await create(ada, its, { ...longest, description: "d".repeat(1_024) }), 201)
    for (const key of ["1K", "A-B", "a b", "A/B", "ключ", "a\nb"]) {
      const path = pathOf(its, encodeURIComponent(key))
      expectStatus(await create(ada, its, { key, value: "v" }), 201)
      expect((await call("PUT", path, { as: ada, body: { value: "w" } })).json.key).toBe(key)
      expect((await read(its))[key]).toBe("w")
      expectStatus(await call("DELETE", path, { as: ada }), 204)
    }
  })

  test("are the owner's: others get 403, and 404 for a private val", async () => {
    const [ada, bob] = [await addUser(), await addUser()]
    for (const [its, refusal] of [
      [await val(ada), [403, "not_owner"]],
      [await val(ada, { privacy: "private" }), [404, "val_not_found"]],
    ] as const) {
      expect(refusalOf(await create(bob, its, { key: "K", value: "v" }))).toEqual([...refusal])
      expect(refusalOf(await call("GET", pathOf(its), { as: bob }))).toEqual([...refusal])
    }
  })
})
