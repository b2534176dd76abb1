import { describe, expect, test } from "bun:test"
import { expectStatus, type TestUser, testBaseUrl } from "../support/api.ts"
import { type ApiSuite, describeSqliteApi, nextMillisecond, refusalOf } from "./suite.ts"

const missing = "01890000-0000-7000-8000-000000000000"
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

describeSqliteApi("api/v2-vals", (suite) => {
  describe("POST /v2/vals", () => defineCreate(suite))
  describe("GET /v2/vals", () => defineList(suite))
  describe("one val", () => defineOne(suite))
  describe("pictures", () => definePictures(suite))
  describe("names", () => defineNames(suite))
  describe("organisations", () => defineOrgs(suite))
})

const create = ({ call }: ApiSuite, as: TestUser, body: object) =>
  call("POST", "/v2/vals", { as, body })

function defineCreate(suite: ApiSuite): void {
  test("is 201 with the val, with every key", async () => {
    const ada = await suite.addUser()
    const body = { name: "my-val", privacy: "unlisted", description: "counts" }
    const { json } = expectStatus(await create(suite, ada, body), 201)
    expect(json).toEqual({
      ...body,
      id: json.id,
      imageUrl: null,
      createdAt: time,
      author: { id: ada.id, type: "user", username: ada.username },
      links: {
        self: `${testBaseUrl}/v2/vals/${json.id}`,
        html: `${testBaseUrl}/x/${ada.username}/my-val`,
      },
    })
    const { data } = expectStatus(await suite.call("GET", `/v2/vals/${json.id}/branches`), 200).json
    expect(data).toMatchObject([{ id: json.id, name: "main", version: 0 }])
  })

  test("lets a val be named .config, whose addresses have its id", async () => {
    const ada = await suite.addUser()
    const body = { name: ".config", privacy: "public" }
    const { id } = expectStatus(await create(suite, ada, body), 201).json
    const file = `/v2/vals/${id}/files`
    const text = { type: "file", content: "Be brief." }
    expectStatus(await suite.call("POST", `${file}?path=AGENTS.md`, { as: ada, body: text }), 201)
    const page = { type: "http", content: "export default 1" }
    const { links } = expectStatus(
      await suite.call("POST", `${file}?path=page.ts`, { as: ada, body: page }),
      201,
    ).json
    expect(links.alias).toBe(`http://${id.replaceAll("-", "")}.hamlet.test`)
    const alias = await suite.call("GET", `/v2/alias/vals/${ada.username}/.config`)
    expect(alias.json).toMatchObject({ id, name: ".config" })
    const module = await suite.call("GET", `/v/${ada.username}/.config@2-main/AGENTS.md`)
    expect(expectStatus(module, 200).text).toBe("Be brief.")
    for (const name of [".Config", ".configs", "..config", ".", ".agents"])
      expect(refusalOf(await create(suite, ada, { ...body, name }))).toEqual([
        400,
        "invalid_request",
      ])
  })

  test("needs a name and a privacy, and refuses what is none", async () => {
    const ada = await suite.addUser()
    for (const body of [
      {},
      { name: "a" },
      { privacy: "public" },
      { name: "1a", privacy: "public" },
      { name: "a b", privacy: "public" },
      { name: "x".repeat(49), privacy: "public" },
      { name: "a", privacy: "open" },
      { name: "a", privacy: "public", description: "x".repeat(65) },
      { name: "a", privacy: "public", orgId: "me" },
    ])
      expect(refusalOf(await create(suite, ada, body))).toEqual([400, "invalid_request"])
  })

  test("keeps an empty description as none, and takes the caller's own id as orgId", async () => {
    const ada = await suite.addUser()
    const body = { name: "a", privacy: "private", description: "", orgId: ada.id }
    expect(expectStatus(await create(suite, ada, body), 201).json.description).toBeNull()
    const other = { ...body, name: "b", orgId: missing }
    expect(refusalOf(await create(suite, ada, other))).toEqual([404, "org_not_found"])
  })
}

function defineList(suite: ApiSuite): void {
  const { call } = suite

  test("has public vals and the caller's own, newest first, by every kind of cursor", async () => {
    const [ada, bob] = [await suite.addUser(), await suite.addUser()]
    const ids: string[] = []
    for (const privacy of ["public", "unlisted", "private"]) {
      ids.unshift((await create(suite, ada, { name: privacy, privacy })).json.id)
      await nextMillisecond()
    }
    const read = async (query: string, as?: TestUser) =>
      expectStatus(await call("GET", `/v2/vals?user_id=${ada.id}${query}`, { as }), 200).json
    const idsOf = (page: { data: { id: string }[] }) => page.data.map(({ id }) => id)
    expect(idsOf(await read("", ada))).toEqual(ids)
    expect(idsOf(await read("", bob))).toEqual(ids.slice(2))
    expect(idsOf(await read(""))).toEqual(ids.slice(2))
    expect(idsOf(await read("&privacy=private", ada))).toEqual(ids.slice(0, 1))
    const first = await read("&limit=1", ada)
    const { next } = first.links
    const cursor = new URL(next).searchParams.get("cursor") ?? ""
    for (const text of [cursor, next, first.data[0].createdAt])
      expect(idsOf(await read(`&limit=1&cursor=${encodeURIComponent(text)}`, ada))).toEqual(
        ids.slice(1, 2),
      )
    expect(next.startsWith(`${testBaseUrl}/v2/vals?`)).toBe(true)
    for (const text of ["nonsense", "2024-13-01", "http://x/?cursor=1"])
      expect(refusalOf(await call("GET", `/v2/vals?cursor=${encodeURIComponent(text)}`))).toEqual([
        400,
        "invalid_request",
      ])
  })

  test("GET /v2/me/vals has the caller's own, and needs a token", async () => {
    const ada = await suite.addUser()
    const { id } = await suite.val(ada, { privacy: "private" })
    const { json } = expectStatus(await call("GET", "/v2/me/vals?offset=0", { as: ada }), 200)
    expect(json.data).toMatchObject([{ id, author: { id: ada.id } }])
    expect(json.data[0]).not.toHaveProperty("code")
    expect(refusalOf(await call("GET", "/v2/me/vals"))).toEqual([401, "unauthenticated"])
  })
}

function definePictures(suite: ApiSuite): void {
  const { call } = suite
  const png = "data:image/png;base64,iVBORw0KGgo="

  test("PUT /v1/vals/{id} sets and removes it, every view has it, and a fork keeps it", async () => {
    const ada = await suite.addUser()
    const { id, name } = await suite.val(ada, { privacy: "public" })
    const put = async (imageUrl: string | null) =>
      expectStatus(await call("PUT", `/v1/vals/${id}`, { as: ada, body: { imageUrl } }), 204)
    const read = async (path: string) => expectStatus(await call("GET", path), 200).json
    expect(await read(`/v1/vals/${id}`)).not.toHaveProperty("imageUrl")
    for (const imageUrl of [png, "https://example.com/a.png?size=64#top"]) {
      await put(imageUrl)
      expect(await read(`/v1/vals/${id}`)).toMatchObject({ imageUrl, version: 1 })
      expect(await read(`/v2/vals/${id}`)).toMatchObject({ imageUrl })
      expect((await read(`/v1/vals?userId=${ada.id}`)).data).toMatchObject([{ imageUrl }])
      expect((await read(`/v1/search/vals?query=${name}`)).data).toMatchObject([{ imageUrl }])
    }
    const fork = await call("POST", `/v1/vals/${id}/fork`, { as: ada, body: { name: "copy" } })
    expect(fork.json.imageUrl).toStartWith("https://example.com/")
    for (const none of [null, ""]) {
      await put(png)
      await put(none)
      expect(await read(`/v1/vals/${id}`)).not.toHaveProperty("imageUrl")
      expect(await read(`/v2/vals/${id}`)).toMatchObject({ imageUrl: null })
    }
  })

  test("refuses what is not the address of a picture, or too long", async () => {
    const ada = await suite.addUser()
    const { id } = await suite.val(ada)
    for (const imageUrl of [
      "javascript:alert(1)",
      "data:image/svg+xml;base64,PHN2Zz4=",
      "data:text/html;base64,PHN2Zz4=",
      "data:image/png;base64,",
      "data:image/png;base64,a b",
      'data:image/png;base64,AAAA" onerror="x',
      "https://user:secret@example.com/a.png",
      "https://example.com/a b.png",
      "//example.com/a.png",
      "ftp://example.com/a.png",
      "https://",
      `https://example.com/${"x".repeat(4_000)}`,
      `data:image/png;base64,${"A".repeat(4_000)}`,
      1,
    ])
      expect(
        refusalOf(await call("PUT", `/v1/vals/${id}`, { as: ada, body: { imageUrl } })),
      ).toEqual([400, "invalid_request"])
  })
}

function defineOne(suite: ApiSuite): void {
  const { call } = suite

  test("is found by id and by name, and is 404 where it cannot be seen", async () => {
    const [ada, bob] = [await suite.addUser(), await suite.addUser()]
    const made = expectStatus(
      await create(suite, ada, { name: "a-val", privacy: "private" }),
      201,
    ).json
    for (const path of [`/v2/vals/${made.id}`, `/v2/alias/vals/${ada.username}/a-val`]) {
      expect(expectStatus(await call("GET", path, { as: ada }), 200).json).toEqual(made)
      expect(refusalOf(await call("GET", path, { as: bob }))).toEqual([404, "val_not_found"])
    }
    const free = `/v2/alias/vals/${ada.username}/free`
    expect(refusalOf(await call("GET", free, { as: ada }))).toEqual([404, "val_not_found"])
  })

  test("is deleted by its owner", async () => {
    const [ada, bob] = [await suite.addUser(), await suite.addUser()]
    const { id } = (await create(suite, ada, { name: "gone", privacy: "public" })).json
    expect(refusalOf(await call("DELETE", `/v2/vals/${id}`, { as: bob }))).toEqual([
      403,
      "not_owner",
    ])
    expectStatus(await call("DELETE", `/v2/vals/${id}`, { as: ada }), 204)
    expect(refusalOf(await call("DELETE", `/v2/vals/${id}`, { as: ada }))).toEqual([
      404,
      "val_not_found",
    ])
  })
}

function defineNames(suite: ApiSuite): void {
  const { call } = suite

  test("are the same with a dash and with an underscore, in both versions of the API", async () => {
    const ada = await suite.addUser()
    const { id } = expectStatus(
      await create(suite, ada, { name: "a-b_C", privacy: "public" }),
      201,
    ).json
    for (const name of ["a_b-c", "A-B-C", "a_b_c"]) {
      const answer = await create(suite, ada, { name, privacy: "public" })
      expect(refusalOf(answer)).toEqual([409, "name_taken"])
      expect(answer.headers.get("x-should-retry")).toBe("false")
      for (const [method, path] of [
        ["POST", "/v1/vals"],
        ["PUT", "/v1/vals"],
      ] as const)
        expect(refusalOf(await call(method, path, { as: ada, body: { name, code: "1" } }))).toEqual(
          [409, "name_taken"],
        )
      for (const version of ["/v1/alias", "/v2/alias/vals"])
        expect((await call("GET", `${version}/${ada.username}/${name}`)).json.id).toBe(id)
    }
    const rename = (name: string) => call("PUT", `/v1/vals/${id}`, { as: ada, body: { name } })
    expectStatus(await rename("a_b_c"), 204)
    expect((await call("GET", `/v2/vals/${id}`)).json.name).toBe("a_b_c")
  })
}

function defineOrgs(suite: ApiSuite): void {
  test("are none", async () => {
    const ada = await suite.addUser()
    const { json } = expectStatus(await suite.call("GET", "/v2/orgs", { as: ada }), 200)
    expect(json).toEqual({ data: [], links: { self: `${testBaseUrl}/v2/orgs?offset=0&limit=20` } })
    const path = `/v2/orgs/${missing}/memberships`
    expect(refusalOf(await suite.call("GET", path, { as: ada }))).toEqual([404, "org_not_found"])
  })
}
