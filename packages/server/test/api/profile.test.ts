import { describe, expect, test } from "bun:test"
import { expectStatus } from "../support/api.ts"
import { describeApi, namesOf, refusalOf } from "./suite.ts"

describeApi("api/profile", (suite) => {
  const { call, addUser: person, val } = suite

  describe("PUT /v1/me", () => {
    test("changes only the fields that are sent", async () => {
      const ada = await person()
      const put = async (body: object) =>
        expectStatus(await call("PUT", "/v1/me", { as: ada, body }), 200).json
      const { scopes, ...before } = (await call("GET", "/v1/me", { as: ada })).json
      const bio = "Line one\nзавтра 😀"
      expect(await put({ bio })).toEqual({ ...before, bio })
      expect(await put({ email: "ada@hamlet.test", username: "root", tier: "gold" })).toEqual({
        ...before,
        bio,
        email: "ada@hamlet.test",
      })
      expect(await put({ bio: null })).toEqual({ ...before, email: "ada@hamlet.test" })
      expect(await put({ bio: "", email: null })).toEqual({ ...before, bio: "" })
      expect((await call("GET", "/v1/me", { as: ada })).json).toEqual({
        ...before,
        scopes,
        bio: "",
      })
    })

    test("changes no other user, and makes the bio public", async () => {
      const [ada, bob] = [await person(), await person()]
      expectStatus(await call("PUT", "/v1/me", { as: ada, body: { bio: "x".repeat(2_000) } }), 200)
      expect((await call("GET", `/v1/users/${ada.id}`, { as: bob })).json.bio).toHaveLength(2_000)
      expect((await call("GET", "/v1/me", { as: bob })).json.bio).toBeNull()
    })

    test.each<[string, object]>([
      ["nothing", {}],
      ["nothing that it knows", { tier: "gold" }],
      ["a bio that is too long", { bio: "x".repeat(2_001) }],
      ["a NUL", { bio: "a\0b" }],
      ["half of a character", { bio: "\ud800" }],
      ["a number", { bio: 1 }],
      ["what is no address", { email: "ada" }],
      ["an address that is too long", { email: `${"a".repeat(250)}@b.com` }],
      ["an empty address", { email: "" }],
    ])("refuses %s", async (_what, body) => {
      expect(
        refusalOf(await call("PUT", "/v1/me", { as: await suite.sharedUser(), body })),
      ).toEqual([400, "invalid_request"])
    })
  })

  describe("GET /v1/me/vals", () => {
    test("lists the caller's own vals of every privacy, and no others", async () => {
      const [ada, bob] = [await person(), await person()]
      await val(bob, { name: "bobs" })
      for (const privacy of ["public", "unlisted", "private"])
        await val(ada, { name: `val_${privacy}`, privacy })
      const ask = async (query: string) =>
        namesOf(await call("GET", `/v1/me/vals?${query}`, { as: ada }))
      expect(await ask("")).toEqual(["val_private", "val_unlisted", "val_public"])
      expect(await ask("sort=name")).toEqual(["val_private", "val_public", "val_unlisted"])
      expect(await ask("order=asc")).toEqual(["val_public", "val_unlisted", "val_private"])
      expect(await ask("privacy=unlisted")).toEqual(["val_unlisted"])
      expect(await ask("type=http")).toEqual([])
      expect(await ask("query=L_P")).toEqual(["val_private", "val_public"])
      expect(await ask("query=%25")).toEqual([])
      expect(await ask("query=")).toHaveLength(3)
    })

    test("has whole vals, and links that keep the query", async () => {
      const ada = await person()
      const [first] = [await val(ada, { name: "first" }), await val(ada, { name: "second" })]
      const { json } = await call("GET", "/v1/me/vals?sort=name&query=s&limit=1", { as: ada })
      expect(json.data).toEqual([(await call("GET", `/v1/vals/${first.id}`, { as: ada })).json])
      expect(json.links.next).toMatch(
        /\/v1\/me\/vals\?sort=name&query=s&limit=1&offset=1&cursor=[\w-]+$/,
      )
      expect(json.links.prev).toBeUndefined()
    })

    test.each([
      "sort=size",
      "order=up",
      "privacy=secret",
      "type=httpnext",
      "limit=0",
      `query=${"x".repeat(513)}`,
      "query=%00",
    ])("refuses ?%s", async (query) => {
      expect(
        refusalOf(await call("GET", `/v1/me/vals?${query}`, { as: await suite.sharedUser() })),
      ).toEqual([400, "invalid_request"])
    })
  })
})
