import { describe, expect, test } from "bun:test"
import { limits } from "@hamlet/contract"
import { expectStatus } from "../support/api.ts"
import { describeSqliteApi, idsOf, once, refusalOf } from "./suite.ts"

const missing = "01890000-0000-7000-8000-000000000000"

describeSqliteApi("api/likes", (suite) => {
  const { call, addUser: person, val } = suite
  const likesOf = async (id: string) =>
    expectStatus(await call("GET", `/v1/vals/${id}`), 200).json.likeCount

  test("PUT like counts once per user, however often it is sent", async () => {
    const [ada, bob] = [await person(), await person()]
    const { id } = await val(ada)
    expect(await likesOf(id)).toBe(0)
    for (const as of [ada, ada, bob])
      expect(expectStatus(await call("PUT", `/v1/vals/${id}/like`, { as }), 204).text).toBe("")
    expect(await likesOf(id)).toBe(2)
  })

  test("DELETE like removes the like, and is 204 also without one", async () => {
    const [ada, bob] = [await person(), await person()]
    const { id } = await val(ada)
    for (const as of [ada, bob]) expectStatus(await call("PUT", `/v1/vals/${id}/like`, { as }), 204)
    for (const as of [ada, ada])
      expectStatus(await call("DELETE", `/v1/vals/${id}/like`, { as }), 204)
    expect(await likesOf(id)).toBe(1)
  })

  test("PUT like changes nothing of the val but likeCount", async () => {
    const ada = await person()
    const made = await val(ada)
    expectStatus(await call("PUT", `/v1/vals/${made.id}/like`, { as: ada }), 204)
    expect((await call("GET", `/v1/vals/${made.id}`)).json).toEqual({ ...made, likeCount: 1 })
  })

  for (const method of ["PUT", "DELETE"]) {
    test(`${method} like works on an unlisted val, and is 404 for a private or missing val`, async () => {
      const [ada, bob] = [await person(), await person()]
      const [unlisted, hidden] = [
        await val(ada, { privacy: "unlisted" }),
        await val(ada, { privacy: "private" }),
      ]
      expectStatus(await call(method, `/v1/vals/${unlisted.id}/like`, { as: bob }), 204)
      expect(refusalOf(await call(method, `/v1/vals/${hidden.id}/like`, { as: bob }))).toEqual([
        404,
        "val_not_found",
      ])
      expect(refusalOf(await call(method, `/v1/vals/${missing}/like`, { as: bob }))).toEqual([
        404,
        "val_not_found",
      ])
      expect(refusalOf(await call(method, "/v1/vals/nonsense/like", { as: bob }))).toEqual([
        400,
        "invalid_request",
      ])
      expect(refusalOf(await call(method, `/v1/vals/${unlisted.id}/like`))).toEqual([
        401,
        "unauthenticated",
      ])
    })
  }
})

describeSqliteApi("api/comments", (suite) => {
  const { call, addUser: person, val } = suite

  test("POST comments is 201 with the comment in the same form as in lists", async () => {
    const [ada, bob] = [await person(), await person()]
    const on = await val(ada)
    const made = expectStatus(
      await call("POST", `/v1/vals/${on.id}/comments`, {
        as: bob,
        body: { comment: "**Nice**\n\n👍" },
      }),
      201,
    ).json
    expect(made).toEqual({
      id: expect.any(String),
      comment: "**Nice**\n\n👍",
      createdAt: expect.any(String),
      author: { id: bob.id, username: bob.username },
      val: {
        id: on.id,
        name: on.name,
        version: 1,
        privacy: "public",
        public: true,
        author: on.author,
        author_id: on.author.id,
        username: on.author.username,
      },
    })
    expect(expectStatus(await call("GET", `/v1/vals/${on.id}/comments`), 200).json.data).toEqual([
      made,
    ])
  })

  test("GET comments is a list, newest first, that needs no token", async () => {
    const ada = await person()
    const { id } = await val(ada, { privacy: "unlisted" })
    const said: string[] = []
    for (const comment of ["1", "2", "3"])
      said.unshift(
        expectStatus(
          await call("POST", `/v1/vals/${id}/comments`, { as: ada, body: { comment } }),
          201,
        ).json.id,
      )
    expect(idsOf(await call("GET", `/v1/vals/${id}/comments`))).toEqual(said)
    expect(idsOf(await call("GET", `/v1/vals/${id}/comments?limit=1&offset=1`))).toEqual(
      said.slice(1, 2),
    )
  })

  const silent = once(async () => {
    const ada = await person()
    return { ada, id: (await val(ada)).id }
  })
  for (const [title, body] of [
    ["nothing", {}],
    ["an empty comment", { comment: "" }],
    ["a number", { comment: 1 }],
    ["null", { comment: null }],
    ["one character too many", { comment: "x".repeat(limits.commentCharsMax + 1) }],
    ["NUL", { comment: "a\0b" }],
    ["half of a surrogate pair", { comment: "\ud83d" }],
    ["a list", []],
  ] as const) {
    test(`POST comments refuses ${title}`, async () => {
      const { ada, id } = await silent()
      expect(refusalOf(await call("POST", `/v1/vals/${id}/comments`, { as: ada, body }))).toEqual([
        400,
        "invalid_request",
      ])
      expect(idsOf(await call("GET", `/v1/vals/${id}/comments`))).toEqual([])
    })
  }

  test("POST comments accepts the longest text that the contract allows", async () => {
    const ada = await person()
    const { id } = await val(ada)
    const comment = "x".repeat(limits.commentCharsMax)
    expect(
      expectStatus(
        await call("POST", `/v1/vals/${id}/comments`, { as: ada, body: { comment } }),
        201,
      ).json.comment,
    ).toBe(comment)
  })

  test("comments on a private val are visible to its owner only", async () => {
    const [ada, bob] = [await person(), await person()]
    const { id } = await val(ada, { privacy: "private" })
    expectStatus(
      await call("POST", `/v1/vals/${id}/comments`, { as: ada, body: { comment: "note" } }),
      201,
    )
    for (const as of [bob, undefined])
      expect(refusalOf(await call("GET", `/v1/vals/${id}/comments`, { as }))).toEqual([
        404,
        "val_not_found",
      ])
    expect(
      refusalOf(await call("POST", `/v1/vals/${id}/comments`, { as: bob, body: { comment: "x" } })),
    ).toEqual([404, "val_not_found"])
    expect(idsOf(await call("GET", `/v1/vals/${id}/comments`, { as: ada }))).toHaveLength(1)
  })

  test("DELETE /v1/comments/{comment_id} is allowed to its author and to the owner of the val", async () => {
    const [ada, bob, eve] = [await person(), await person(), await person()]
    const { id } = await val(ada)
    const say = async () =>
      expectStatus(
        await call("POST", `/v1/vals/${id}/comments`, { as: bob, body: { comment: "x" } }),
        201,
      ).json.id
    const [one, two] = [await say(), await say()]
    expect(refusalOf(await call("DELETE", `/v1/comments/${one}`, { as: eve }))).toEqual([
      403,
      "not_owner",
    ])
    expectStatus(await call("DELETE", `/v1/comments/${one}`, { as: bob }), 204)
    expectStatus(await call("DELETE", `/v1/comments/${two}`, { as: ada }), 204)
    expect(refusalOf(await call("DELETE", `/v1/comments/${one}`, { as: bob }))).toEqual([
      404,
      "comment_not_found",
    ])
    expect(refusalOf(await call("DELETE", "/v1/comments/nonsense", { as: bob }))).toEqual([
      400,
      "invalid_request",
    ])
    expect(idsOf(await call("GET", `/v1/vals/${id}/comments`))).toEqual([])
  })

  test("DELETE /v1/comments/{comment_id} is 404 when the val has become private, also for the author", async () => {
    const [ada, bob] = [await person(), await person()]
    const { id } = await val(ada)
    const comment = expectStatus(
      await call("POST", `/v1/vals/${id}/comments`, { as: bob, body: { comment: "x" } }),
      201,
    ).json.id
    expectStatus(
      await call("PUT", `/v1/vals/${id}`, { as: ada, body: { privacy: "private" } }),
      204,
    )
    expect(refusalOf(await call("DELETE", `/v1/comments/${comment}`, { as: bob }))).toEqual([
      404,
      "comment_not_found",
    ])
    expectStatus(await call("DELETE", `/v1/comments/${comment}`, { as: ada }), 204)
  })

  describe("DELETE /v1/vals/{val_id}", () => {
    test("deletes the comments of the val", async () => {
      const ada = await person()
      const { id } = await val(ada)
      const comment = expectStatus(
        await call("POST", `/v1/vals/${id}/comments`, { as: ada, body: { comment: "x" } }),
        201,
      ).json.id
      expectStatus(await call("DELETE", `/v1/vals/${id}`, { as: ada }), 204)
      expect(refusalOf(await call("GET", `/v1/vals/${id}/comments`, { as: ada }))).toEqual([
        404,
        "val_not_found",
      ])
      expect(refusalOf(await call("DELETE", `/v1/comments/${comment}`, { as: ada }))).toEqual([
        404,
        "comment_not_found",
      ])
    })
  })
})
