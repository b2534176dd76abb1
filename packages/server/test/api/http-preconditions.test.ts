import { describe, expect, test } from "bun:test"
import { expectStatus, type TestUser } from "../support/api.ts"
import { type ApiSuite, describeSqliteApi, refusalOf, type ValView } from "./suite.ts"

describeSqliteApi("api/http preconditions", (suite) => {
  describe("If-None-Match", () => defineIfNoneMatch(suite))
  describe("If-Match", () => defineIfMatch(suite))
})

/** The addresses at which a val, or a version of it, has an ETag. */
const addresses = ({ id, name, author }: ValView) => [
  `/v1/vals/${id}`,
  `/v1/vals/${id}/versions/1`,
  `/v1/alias/${author.username}/${name}`,
  `/v/${author.username}/${name}`,
  `/v/${author.username}/${name}@1`,
]

function defineIfNoneMatch({ call, addUser: person, val }: ApiSuite): void {
  test("is 304 without a body while nothing has changed, on a val, a version, an alias and a module", async () => {
    const made = await val(await person())
    for (const path of addresses(made)) {
      const first = expectStatus(await call("GET", path), 200)
      const etag = first.headers.get("etag") ?? ""
      expect(etag).toMatch(/^"1-[0-9a-z]+"$/)
      const second = expectStatus(
        await call("GET", path, { headers: { "if-none-match": etag } }),
        304,
      )
      expect(second.text).toBe("")
      expect(second.headers.get("etag")).toBe(etag)
      expect(second.headers.get("content-type")).toBeNull()
      expect(second.headers.get("x-request-id")).toBeTruthy()
      expectStatus(await call("HEAD", path, { headers: { "if-none-match": etag } }), 304)
    }
  })

  test("accepts weak tags, several tags, and *", async () => {
    const { id } = await val(await person())
    const etag = (await call("GET", `/v1/vals/${id}`)).headers.get("etag") ?? ""
    for (const header of [
      `W/${etag}`,
      `"other", ${etag}`,
      `${etag},"other"`,
      `"a" , W/${etag}`,
      "*",
    ]) {
      expectStatus(
        await call("GET", `/v1/vals/${id}`, { headers: { "if-none-match": header } }),
        304,
      )
    }
    for (const header of ['"other"', "", etag.slice(1, -1), '"1"', ",,"]) {
      expectStatus(
        await call("GET", `/v1/vals/${id}`, { headers: { "if-none-match": header } }),
        200,
      )
    }
  })

  for (const [title, change] of [
    [
      "a save",
      (as: TestUser, id: string) =>
        call("POST", `/v1/vals/${id}/versions`, { as, body: { code: "2" } }),
    ],
    [
      "another readme",
      (as: TestUser, id: string) => call("PUT", `/v1/vals/${id}`, { as, body: { readme: "new" } }),
    ],
    [
      "another privacy",
      (as: TestUser, id: string) =>
        call("PUT", `/v1/vals/${id}`, { as, body: { privacy: "unlisted" } }),
    ],
    ["a like", (as: TestUser, id: string) => call("PUT", `/v1/vals/${id}/like`, { as })],
  ] as const) {
    test(`is 200 with another tag after ${title}`, async () => {
      const ada = await person()
      const { id } = await val(ada)
      const etag = (await call("GET", `/v1/vals/${id}`)).headers.get("etag") ?? ""
      await change(ada, id)
      const response = expectStatus(
        await call("GET", `/v1/vals/${id}`, { headers: { "if-none-match": etag } }),
        200,
      )
      expect(response.headers.get("etag")).not.toBe(etag)
    })
  }

  test("shows nothing to callers that can no longer see the val", async () => {
    const ada = await person()
    const made = await val(ada)
    for (const path of addresses(made)) {
      const etag = (await call("GET", path)).headers.get("etag") ?? ""
      expectStatus(
        await call("PUT", `/v1/vals/${made.id}`, { as: ada, body: { privacy: "private" } }),
        204,
      )
      for (const header of [etag, "*"])
        expectStatus(await call("GET", path, { headers: { "if-none-match": header } }), 404)
      expectStatus(
        await call("PUT", `/v1/vals/${made.id}`, { as: ada, body: { privacy: "public" } }),
        204,
      )
    }
  })

  test("is ignored by lists, which have no ETag", async () => {
    const response = expectStatus(
      await call("GET", "/v1/vals?limit=1", { headers: { "if-none-match": "*" } }),
      200,
    )
    expect(response.headers.get("etag")).toBeNull()
  })
}

function defineIfMatch({ call, addUser: person, val }: ApiSuite): void {
  /** Every way to change a val, which was made with two versions. */
  const changes = {
    "PUT /v1/vals": (as: TestUser, { name }: ValView, headers: Record<string, string>) =>
      call("PUT", "/v1/vals", { as, headers, body: { name, code: "new" } }),
    "POST versions": (as: TestUser, { id }: ValView, headers: Record<string, string>) =>
      call("POST", `/v1/vals/${id}/versions`, { as, headers, body: { code: "new" } }),
    "PUT /v1/vals/{val_id}": (as: TestUser, { id }: ValView, headers: Record<string, string>) =>
      call("PUT", `/v1/vals/${id}`, { as, headers, body: { readme: "new" } }),
    "DELETE a version": (as: TestUser, { id }: ValView, headers: Record<string, string>) =>
      call("DELETE", `/v1/vals/${id}/versions/1`, { as, headers }),
    "DELETE a val": (as: TestUser, { id }: ValView, headers: Record<string, string>) =>
      call("DELETE", `/v1/vals/${id}`, { as, headers }),
  }

  async function atTwo(): Promise<{ ada: TestUser; made: ValView }> {
    const ada = await person()
    const { id } = await val(ada)
    return {
      ada,
      made: expectStatus(
        await call("POST", `/v1/vals/${id}/versions`, { as: ada, body: { code: "2" } }),
        201,
      ).json,
    }
  }

  for (const [title, change] of Object.entries(changes)) {
    test(`allows ${title} when the val is at that version`, async () => {
      for (const header of ['"2"', "2", 'W/"2"', ' "2" ', "*"]) {
        const { ada, made } = await atTwo()
        expect([200, 201, 204]).toContain((await change(ada, made, { "if-match": header })).status)
      }
    })

    test(`refuses ${title} with 412 when the val has a newer version, and changes nothing`, async () => {
      const { ada, made } = await atTwo()
      for (const header of ['"1"', '"3"', "0", '"999999999999999"']) {
        expect(refusalOf(await change(ada, made, { "if-match": header }))).toEqual([
          412,
          "version_conflict",
        ])
      }
      expect((await call("GET", `/v1/vals/${made.id}`)).json).toEqual(made)
    })

    test(`refuses ${title} with 400 when the header names no version`, async () => {
      const { ada, made } = await atTwo()
      for (const header of ["", '"', '""', "latest", '"2", "3"', "-1", "2.0", '"two"', "W/"]) {
        const response = await change(ada, made, { "if-match": header })
        expect(refusalOf(response)).toEqual([400, "invalid_request"])
        expect(response.json.issues).toEqual([{ path: "if-match", message: expect.any(String) }])
      }
      expect((await call("GET", `/v1/vals/${made.id}`)).json).toEqual(made)
    })

    test(`allows ${title} with the ETag from the read`, async () => {
      const { ada, made } = await atTwo()
      const etag = (await call("GET", `/v1/vals/${made.id}`)).headers.get("etag") ?? ""
      expect([200, 201, 204]).toContain((await change(ada, made, { "if-match": etag })).status)
    })
  }

  test("refuses to create a val: PUT /v1/vals is 412", async () => {
    const ada = await person()
    const response = await call("PUT", "/v1/vals", {
      as: ada,
      headers: { "if-match": '"1"' },
      body: { name: "gone", code: "1" },
    })
    expect(refusalOf(response)).toEqual([412, "version_conflict"])
    expectStatus(await call("GET", `/v1/alias/${ada.username}/gone`, { as: ada }), 404)
  })

  test("is compared with the current version, also after a higher one was deleted", async () => {
    const { ada, made } = await atTwo()
    expectStatus(await call("DELETE", `/v1/vals/${made.id}/versions/2`, { as: ada }), 204)
    const save = (version: string) =>
      call("POST", `/v1/vals/${made.id}/versions`, {
        as: ada,
        headers: { "if-match": version },
        body: { code: "new" },
      })
    expect(refusalOf(await save('"2"'))).toEqual([412, "version_conflict"])
    expect(expectStatus(await save('"1"'), 201).json.version).toBe(3)
  })

  test("is checked after the owner", async () => {
    const { made } = await atTwo()
    const bob = await person()
    expect(refusalOf(await changes["DELETE a val"](bob, made, { "if-match": '"9"' }))).toEqual([
      403,
      "not_owner",
    ])
  })

  test("lets only the first of two saves of the same version succeed", async () => {
    const { ada, made } = await atTwo()
    const save = (code: string) =>
      call("POST", `/v1/vals/${made.id}/versions`, {
        as: ada,
        headers: { "if-match": '"2"' },
        body: { code },
      })
    expectStatus(await save("first"), 201)
    expect(refusalOf(await save("second"))).toEqual([412, "version_conflict"])
  })
}
