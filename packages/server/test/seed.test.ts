import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import type { Output } from "@hamlet/contract/client"
import { createSampleData, firstRunAt, type SampleData } from "./support/data/sample-data.ts"
import { describeSqlite } from "./support/databases.ts"
import { type Loopback, openLoopback } from "./support/loopback.ts"

// The specification that we were given, route by route and rule by rule, with nothing but `fetch`:
// whoever can read it can use the server.

interface Reply<Body> {
  readonly status: number
  readonly body: Body
}

type Send = <Body = undefined>(
  method: string,
  path: string,
  options?: { token?: string | undefined; body?: object },
) => Promise<Reply<Body>>

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const minute = (count: number) => new Date(firstRunAt + count * 60_000).toISOString()

describeSqlite("seed: the specification", (open) => {
  let loopback: Loopback
  let data: SampleData
  let send: Send
  let token: string

  beforeAll(async () => {
    loopback = await openLoopback(open)
    data = await createSampleData(loopback.api, loopback.baseUrl)
    send = toSend(loopback.baseUrl)
    token = data.ada.token
  })

  afterAll(() => loopback.close())

  const addVal = async (...codes: string[]) => {
    const [first = "1", ...rest] = codes
    const { body } = await send<Output<"createVal">>("POST", "/v1/vals", {
      token,
      body: { code: first },
    })
    for (const code of rest)
      await send("POST", `/v1/vals/${body.id}/versions`, { token, body: { code } })
    return body
  }

  describe('"me" routes', () => {
    test("GET /v1/me is the profile of the current user", async () => {
      const { status, body } = await send<Output<"getMe">>("GET", "/v1/me", { token })
      expect(status).toBe(200)
      expect(body).toMatchObject({ id: data.ada.id, username: "ada" })
    })

    test("GET /v1/me/runs takes error, limit, offset, since and until", async () => {
      const query = new URLSearchParams({
        error: "true",
        limit: "10",
        offset: "0",
        since: minute(0),
        until: minute(1),
      })
      const { status, body } = await send<Output<"listMyRuns">>("GET", `/v1/me/runs?${query}`, {
        token,
      })
      expect(status).toBe(200)
      expect(body.data.map((run) => run.id)).toEqual([data.runs[1]?.id ?? ""])
    })

    test("GET /v1/me/likes takes limit and offset", async () => {
      const { status, body } = await send<Output<"listMyLikes">>(
        "GET",
        "/v1/me/likes?limit=10&offset=1",
        { token },
      )
      expect(status).toBe(200)
      expect(body.data.map((val) => val.id)).toEqual([data.importers[0]?.id ?? ""])
    })

    test("GET /v1/me/comments takes relationship, limit, offset, since and until", async () => {
      const query = new URLSearchParams({
        relationship: "any",
        limit: "10",
        offset: "0",
        since: minute(0),
        until: "2999-01-01T00:00:00Z",
      })
      const { status, body } = await send<Output<"listMyComments">>(
        "GET",
        `/v1/me/comments?${query}`,
        { token },
      )
      expect(status).toBe(200)
      expect(body.data.map((comment) => comment.id)).toEqual([...data.libraryComments].reverse())
    })

    test("GET /v1/me/references lists the vals that depend on any of the user's vals", async () => {
      const { status, body } = await send<Output<"listMyReferences">>("GET", "/v1/me/references", {
        token,
      })
      expect(status).toBe(200)
      expect(body.data.map((it) => it.reference.name)).toEqual(["secondImporter", "firstImporter"])
    })

    test.each(["/v1/me/runs", "/v1/me/likes", "/v1/me/comments"])(
      "rule 1: %s is paged with limit and offset",
      async (path) => {
        await expectPages(send, path, token)
      },
    )

    test("rule 2: since and until bound the time range of runs", async () => {
      const count = async (query: Record<string, string>) =>
        (
          await send<Output<"listMyRuns">>("GET", `/v1/me/runs?${new URLSearchParams(query)}`, {
            token,
          })
        ).body.data.length
      expect(await count({ since: minute(-1) })).toBe(3)
      expect(await count({ since: minute(0) })).toBe(2)
      expect(await count({ until: minute(0) })).toBe(1)
      expect(await count({ since: minute(0), until: minute(2) })).toBe(2)
      expect(await count({ since: minute(2) })).toBe(0)
    })

    test("rule 2: since and until bound the time range of comments", async () => {
      const all = await send<Output<"listMyComments">>("GET", "/v1/me/comments", { token })
      const [latest] = all.body.data
      const list = async (query: Record<string, string>) =>
        (
          await send<Output<"listMyComments">>(
            "GET",
            `/v1/me/comments?${new URLSearchParams(query)}`,
            { token },
          )
        ).body.data
      expect(await list({ since: latest?.createdAt ?? "" })).toEqual([])
      expect(await list({ until: latest?.createdAt ?? "" })).toEqual(all.body.data)
      expect(await list({ until: minute(0) })).toEqual([])
    })

    test("rule 3: error is a boolean filter on runs", async () => {
      const list = async (query: string) =>
        (await send<Output<"listMyRuns">>("GET", `/v1/me/runs${query}`, { token })).body.data.map(
          (run) => run.id,
        )
      const [first, second, third] = data.runs.map((run) => run.id)
      expect(await list("?error=true")).toEqual([second ?? ""])
      expect(await list("?error=false")).toEqual([third ?? "", first ?? ""])
      expect(await list("")).toHaveLength(3)
      expect((await send("GET", "/v1/me/runs?error=perhaps", { token })).status).toBe(400)
    })

    test("rule 4: relationship selects comments given, received, or either", async () => {
      const { body: given } = await send<Output<"createComment">>(
        "POST",
        `/v1/vals/${data.importers[0]?.id}/comments`,
        {
          token,
          body: { comment: "given" },
        },
      )
      const list = async (relationship: string) =>
        (
          await send<Output<"listMyComments">>(
            "GET",
            `/v1/me/comments?relationship=${relationship}`,
            { token },
          )
        ).body.data.map((it) => it.id)
      const received = [...data.libraryComments].reverse()
      expect(await list("given")).toEqual([given.id])
      expect(await list("received")).toEqual(received)
      expect(await list("any")).toEqual([given.id, ...received])
    })
  })

  describe("vals routes", () => {
    test("rule 1: POST /v1/vals creates a val from name, code, readme and privacy", async () => {
      const body = {
        name: "fizz_buzz",
        code: "console.log(15)",
        readme: "# Fizz",
        privacy: "public",
      }
      const made = await send<Output<"createVal">>("POST", "/v1/vals", { token, body })
      expect(made.status).toBe(200)
      expect(made.body).toMatchObject({ ...body, version: 1 })
      expect(made.body.id).toMatch(uuid)
    })

    test("rule 2: PUT /v1/vals creates the val when none has the name, and updates its code otherwise", async () => {
      const made = await send<Output<"saveVal">>("PUT", "/v1/vals", {
        token,
        body: { name: "put_twice", code: "1" },
      })
      expect(made.status).toBe(200)
      expect(made.body).toMatchObject({ name: "put_twice", code: "1", version: 1 })
      const updated = await send<Output<"saveVal">>("PUT", "/v1/vals", {
        token,
        body: { name: "put_twice", code: "2" },
      })
      expect(updated.status).toBe(200)
      expect(updated.body).toMatchObject({ id: made.body.id, code: "2", version: 2 })
    })

    test("GET /v1/vals/{val_id} gets a val by id", async () => {
      const { status, body } = await send<Output<"getVal">>("GET", `/v1/vals/${data.library.id}`, {
        token,
      })
      expect(status).toBe(200)
      expect(body).toMatchObject({
        id: data.library.id,
        name: "library",
        readme: "# Numbers",
        privacy: "public",
      })
    })

    test("DELETE /v1/vals/{val_id} deletes a val", async () => {
      const { id } = await addVal()
      expect((await send("DELETE", `/v1/vals/${id}`, { token })).status).toBe(204)
      expect((await send("GET", `/v1/vals/${id}`, { token })).status).toBe(404)
    })

    test("GET /v1/vals/{val_id}/versions lists the versions of a val", async () => {
      const { id } = await addVal("1", "2", "3")
      const { status, body } = await send<Output<"listVersions">>(
        "GET",
        `/v1/vals/${id}/versions`,
        { token },
      )
      expect(status).toBe(200)
      expect(body.data.map(({ version, code }) => [version, code])).toEqual([
        [3, "3"],
        [2, "2"],
        [1, "1"],
      ])
    })

    test("rule 3: POST /v1/vals/{val_id}/versions takes new code", async () => {
      const { id } = await addVal("console.log(1)")
      const saved = await send<Output<"createVersion">>("POST", `/v1/vals/${id}/versions`, {
        token,
        body: { code: "console.log(2)" },
      })
      expect(saved.status).toBe(201)
      expect(saved.body).toMatchObject({ id, version: 2, code: "console.log(2)" })
    })

    test("rule 3: a val that was read can be posted back with its code changed", async () => {
      const { id } = await addVal("console.log(1)")
      const { body: val } = await send<Output<"getVal">>("GET", `/v1/vals/${id}`, { token })
      const body = { ...val, code: `${val.code} // changed` }
      const saved = await send<Output<"createVersion">>("POST", `/v1/vals/${id}/versions`, {
        token,
        body,
      })
      expect(saved.status).toBe(201)
      expect(saved.body).toMatchObject({
        id,
        name: val.name,
        privacy: val.privacy,
        version: 2,
        code: "console.log(1) // changed",
      })
    })

    test("GET /v1/vals/{val_id}/versions/{version} gets one version", async () => {
      const { id } = await addVal("1", "2", "3", "4")
      for (const version of [1, 4]) {
        const { status, body } = await send<Output<"getVersion">>(
          "GET",
          `/v1/vals/${id}/versions/${version}`,
          { token },
        )
        expect(status).toBe(200)
        expect(body).toMatchObject({ id, version, code: String(version) })
      }
    })

    test("DELETE /v1/vals/{val_id}/versions/{version} deletes one version", async () => {
      const { id } = await addVal("1", "2", "3", "4")
      expect((await send("DELETE", `/v1/vals/${id}/versions/4`, { token })).status).toBe(204)
      expect((await send("GET", `/v1/vals/${id}/versions/4`, { token })).status).toBe(404)
      expect((await send<Output<"getVal">>("GET", `/v1/vals/${id}`, { token })).body).toMatchObject(
        { version: 3, code: "3" },
      )
    })

    test("rule 4: GET /v1/vals/{val_id}/runs is paged with limit and offset", async () => {
      await expectPages(send, `/v1/vals/${data.library.id}/runs`, token)
    })
  })

  describe("authentication", () => {
    test("1: a call is authenticated with a bearer token in the Authorization header", async () => {
      expect((await send("GET", "/v1/me", { token })).status).toBe(200)
      const response = await fetch(`${loopback.baseUrl}/v1/me`, {
        headers: { authorization: `Basic ${btoa(`ada:${token}`)}` },
      })
      expect(response.status).toBe(401)
    })

    test("2: the token identifies the calling user, on whom the me routes act", async () => {
      for (const user of [data.ada, data.bob]) {
        expect(
          (await send<Output<"getMe">>("GET", "/v1/me", { token: user.token })).body.username,
        ).toBe(user.username)
      }
      const likes = await send<Output<"listMyLikes">>("GET", "/v1/me/likes", {
        token: data.bob.token,
      })
      expect(likes.body.data.map((val) => val.id)).toEqual([data.library.id])
    })

    test("3: reading a public val needs no token; everything that is shown with one does", async () => {
      const { id } = data.library
      expect((await send("GET", `/v1/vals/${id}`)).status).toBe(200)
      const shown = [
        ["GET", "/v1/me"],
        ["GET", "/v1/me/runs"],
        ["GET", "/v1/me/likes"],
        ["GET", "/v1/me/comments"],
        ["GET", "/v1/me/references"],
        ["POST", "/v1/vals"],
        ["PUT", "/v1/vals"],
        ["DELETE", `/v1/vals/${id}`],
        ["POST", `/v1/vals/${id}/versions`],
        ["DELETE", `/v1/vals/${id}/versions/1`],
        ["GET", `/v1/vals/${id}/runs`],
      ] as const
      for (const [method, path] of shown) {
        const { status } = await send(method, path, {
          ...(method === "GET" || method === "DELETE" ? {} : { body: { name: "n", code: "1" } }),
        })
        expect([method, path, status]).toEqual([method, path, 401])
      }
    })
  })

  test("limits 1: limit and offset page the lists", async () => {
    for (const path of ["/v1/me/references", `/v1/vals/${data.library.id}/versions`])
      await expectPages(send, path, token)
  })

  describe("versioning", () => {
    test("1: every path starts with a prefix", async () => {
      for (const path of [
        "/me",
        "/vals",
        `/vals/${data.library.id}`,
        "/v3/me",
        `/v3/vals/${data.library.id}`,
      ]) {
        expect((await send("GET", path, { token })).status).toBe(404)
      }
    })

    test("2: each val has its own sequence of versions", async () => {
      const [first, second] = [await addVal("1", "2"), await addVal("a")]
      const numbers = async (id: string) =>
        (
          await send<Output<"listVersions">>("GET", `/v1/vals/${id}/versions`, { token })
        ).body.data.map((it) => it.version)
      expect(await numbers(first.id)).toEqual([2, 1])
      expect(await numbers(second.id)).toEqual([1])
      // A number that was given once is never given again.
      await send("DELETE", `/v1/vals/${first.id}/versions/2`, { token })
      await send("POST", `/v1/vals/${first.id}/versions`, { token, body: { code: "3" } })
      expect(await numbers(first.id)).toEqual([3, 1])
    })
  })
})

function toSend(baseUrl: string): Send {
  return async <Body>(
    method: string,
    path: string,
    { token, body }: { token?: string | undefined; body?: object } = {},
  ) => {
    const headers = {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    }
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    // A 500 can only be a fault: of the server, or of its answer in the eyes of the document.
    if (response.status === 500) throw new Error(text)
    return { status: response.status, body: (text === "" ? undefined : JSON.parse(text)) as Body }
  }
}

/** Reads a list of at least two entries whole, and then one by one. */
async function expectPages(send: Send, path: string, token: string): Promise<void> {
  interface List {
    readonly data: readonly unknown[]
    readonly links: { readonly next?: string; readonly prev?: string }
  }
  const get = async (query: string) => (await send<List>("GET", `${path}?${query}`, { token })).body
  const all = (await get("limit=100")).data
  expect(all.length).toBeGreaterThan(1)
  for (const [offset, item] of all.entries()) {
    const page = await get(`limit=1&offset=${offset}`)
    expect(page.data).toEqual([item])
    expect(page.links.next !== undefined).toBe(offset < all.length - 1)
    expect(page.links.prev !== undefined).toBe(offset > 0)
  }
  expect((await get(`limit=1&offset=${all.length}`)).data).toEqual([])
}
