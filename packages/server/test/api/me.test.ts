import { describe, expect, test } from "bun:test"
import { scope } from "@hamlet/contract"
import { expectStatus, testBaseUrl } from "../support/api.ts"
import { describeApi, idsOf, namesOf, nextMillisecond, refusalOf } from "./suite.ts"

const noon = Date.parse("2024-05-01T12:00:00.000Z")

describeApi("api/me", (suite) => {
  const { call, addUser: person, val } = suite

  describe("GET /v1/me", () => {
    test("is the caller's profile, with every key", async () => {
      const ada = await person()
      const { json } = expectStatus(await call("GET", "/v1/me", { as: ada }), 200)
      expect(json).toEqual({
        id: ada.id,
        username: ada.username,
        bio: null,
        profileImageUrl: null,
        url: `${testBaseUrl}/u/${ada.username}`,
        links: { self: `${testBaseUrl}/v1/users/${ada.id}` },
        type: "user",
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        email: null,
        emailVerified: false,
        tier: null,
        scopes: scope.options.filter((name) => name !== "admin" && name !== "backup"),
      })
    })

    test("has a UUIDv7 as id", async () => {
      const { json } = await call("GET", "/v1/me", { as: await person() })
      expect(json.id).toMatch(
        /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      )
    })

    test("shows the email, which other users do not see", async () => {
      const body = { username: "withMail", email: "ada@hamlet.test" }
      const created = expectStatus(
        await call("POST", "/v1/users", { as: suite.api.admin, body }),
        200,
      ).json
      const mine = expectStatus(await call("GET", "/v1/me", { as: created.token }), 200).json
      expect(mine.email).toBe("ada@hamlet.test")
      const others = expectStatus(await call("GET", `/v1/users/${created.id}`), 200).json
      expect(Object.keys(others)).not.toContain("email")
      const { email: _email, emailVerified: _verified, tier: _tier, scopes: _, ...user } = mine
      expect(others).toEqual(user)
    })

    test("needs a token", async () => {
      const response = await call("GET", "/v1/me")
      expect(refusalOf(response)).toEqual([401, "unauthenticated"])
      expect(response.headers.get("www-authenticate")).toBe("Bearer")
    })
  })

  describe("GET /v1/me/likes", () => {
    test("is a list of whole vals, the latest like first", async () => {
      const [ada, bob] = [await person(), await person()]
      const [first, second, third] = [await val(ada), await val(bob), await val(ada)]
      for (const { id } of [second, third, first]) {
        expectStatus(await call("PUT", `/v1/vals/${id}/like`, { as: bob }), 204)
        await nextMillisecond()
      }
      const list = await call("GET", "/v1/me/likes", { as: bob })
      expect(idsOf(list)).toEqual([first.id, third.id, second.id])
      expect(list.json.data[0]).toEqual(
        (await call("GET", `/v1/vals/${first.id}`, { as: bob })).json,
      )
    })

    test("keeps the position of a like that is repeated", async () => {
      const ada = await person()
      const [first, second] = [await val(ada), await val(ada)]
      for (const { id } of [first, second, first]) {
        expectStatus(await call("PUT", `/v1/vals/${id}/like`, { as: ada }), 204)
        await nextMillisecond()
      }
      expect(idsOf(await call("GET", "/v1/me/likes", { as: ada }))).toEqual([second.id, first.id])
    })

    test("leaves out removed likes and deleted or private vals, and keeps unlisted vals", async () => {
      const [ada, bob] = [await person(), await person()]
      const vals = await Promise.all(
        ["kept", "taken", "deleted", "hidden", "unlisted"].map((name) => val(ada, { name })),
      )
      for (const { id } of vals)
        expectStatus(await call("PUT", `/v1/vals/${id}/like`, { as: bob }), 204)
      const [, taken, deleted, hidden, unlisted] = vals
      expectStatus(await call("DELETE", `/v1/vals/${taken?.id}/like`, { as: bob }), 204)
      expectStatus(await call("DELETE", `/v1/vals/${deleted?.id}`, { as: ada }), 204)
      expectStatus(
        await call("PUT", `/v1/vals/${hidden?.id}`, { as: ada, body: { privacy: "private" } }),
        204,
      )
      expectStatus(
        await call("PUT", `/v1/vals/${unlisted?.id}`, { as: ada, body: { privacy: "unlisted" } }),
        204,
      )
      expect(namesOf(await call("GET", "/v1/me/likes", { as: bob }))).toEqual(["unlisted", "kept"])
    })

    test("includes the caller's own vals, also private ones", async () => {
      const ada = await person()
      const { id } = await val(ada, { privacy: "private" })
      expectStatus(await call("PUT", `/v1/vals/${id}/like`, { as: ada }), 204)
      expect(idsOf(await call("GET", "/v1/me/likes", { as: ada }))).toEqual([id])
    })

    test("lists only the caller's likes", async () => {
      const [ada, bob] = [await person(), await person()]
      const { id } = await val(ada)
      expectStatus(await call("PUT", `/v1/vals/${id}/like`, { as: bob }), 204)
      expect(idsOf(await call("GET", "/v1/me/likes", { as: ada }))).toEqual([])
    })
  })

  describe("GET /v1/me/comments", () => {
    /** Ada's val and Bob's, with a comment of each of them on each, an hour apart. */
    async function conversation() {
      const [ada, bob] = [await person(), await person()]
      const [hers, his] = [await val(ada), await val(bob)]
      const said: Record<string, string> = {}
      const pairs = [
        ["ada on hers", ada, hers],
        ["bob on hers", bob, hers],
        ["ada on his", ada, his],
        ["bob on his", bob, his],
      ] as const
      for (const [index, [comment, author, on]] of pairs.entries()) {
        const id = suite.api.hamlet.nouns.clock.newId()
        const at = noon + index * 3_600_000
        await suite.api.hamlet.stores.comments.add(
          { id, valId: on.id, authorId: author.id, comment, at },
          () => {},
        )
        said[comment] = id
      }
      return { ada, bob, hers, his, said }
    }

    const commentsOf = (json: { data: { comment: string }[] }) =>
      json.data.map(({ comment }) => comment)

    for (const [query, expected] of [
      ["", ["ada on his", "bob on hers", "ada on hers"]],
      ["?relationship=any", ["ada on his", "bob on hers", "ada on hers"]],
      ["?relationship=given", ["ada on his", "ada on hers"]],
      ["?relationship=received", ["bob on hers"]],
    ] as const) {
      test(`${query || "without a relationship"} is ${expected.join(", ")}`, async () => {
        const { ada } = await conversation()
        const { json } = expectStatus(
          await call("GET", `/v1/me/comments${query}`, { as: ada }),
          200,
        )
        expect(commentsOf(json)).toEqual([...expected])
      })
    }

    for (const relationship of ["", "GIVEN", "both", "given,received"]) {
      test(`refuses the relationship "${relationship}"`, async () => {
        const response = await call("GET", `/v1/me/comments?relationship=${relationship}`, {
          as: await person(),
        })
        expect(refusalOf(response)).toEqual([400, "invalid_request"])
        expect(response.json.issues[0].path).toBe("relationship")
      })
    }

    test("is filtered by since (exclusive) and until (inclusive)", async () => {
      const { ada } = await conversation()
      const at = (index: number) =>
        encodeURIComponent(new Date(noon + index * 3_600_000).toISOString())
      const ask = async (query: string) =>
        commentsOf(
          expectStatus(await call("GET", `/v1/me/comments?${query}`, { as: ada }), 200).json,
        )
      expect(await ask(`since=${at(0)}`)).toEqual(["ada on his", "bob on hers"])
      expect(await ask(`until=${at(1)}`)).toEqual(["bob on hers", "ada on hers"])
      expect(await ask(`since=${at(0)}&until=${at(1)}`)).toEqual(["bob on hers"])
      expect(await ask(`since=${at(1)}&until=${at(0)}`)).toEqual([])
      expect(await ask(`relationship=given&since=${at(0)}`)).toEqual(["ada on his"])
      expect(await ask(`until=${at(1)}&limit=1&offset=1`)).toEqual(["ada on hers"])
    })

    test("shows a comment in the same form as other routes, with its val", async () => {
      const { ada, his, said } = await conversation()
      const { json } = await call("GET", "/v1/me/comments?limit=1", { as: ada })
      expect(json.data).toEqual([
        {
          id: said["ada on his"],
          comment: "ada on his",
          createdAt: "2024-05-01T14:00:00.000Z",
          author: { id: ada.id, username: ada.username },
          val: {
            id: his.id,
            name: his.name,
            version: 1,
            privacy: "public",
            public: true,
            author: his.author,
            author_id: his.author.id,
            username: his.author.username,
          },
        },
      ])
    })

    test("leaves out comments on deleted or private vals, except on the caller's own", async () => {
      const { ada, bob, hers, his } = await conversation()
      expectStatus(
        await call("PUT", `/v1/vals/${his.id}`, { as: bob, body: { privacy: "private" } }),
        204,
      )
      expectStatus(
        await call("PUT", `/v1/vals/${hers.id}`, { as: ada, body: { privacy: "private" } }),
        204,
      )
      expect(commentsOf((await call("GET", "/v1/me/comments", { as: ada })).json)).toEqual([
        "bob on hers",
        "ada on hers",
      ])
      expectStatus(await call("DELETE", `/v1/vals/${hers.id}`, { as: ada }), 204)
      expect(commentsOf((await call("GET", "/v1/me/comments", { as: ada })).json)).toEqual([])
    })
  })
})
