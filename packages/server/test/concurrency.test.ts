import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { limits } from "@hamlet/contract"
import { notRun, waitUntil } from "@hamlet/kit/testing"
import { SQL } from "bun"
import {
  expectStatus,
  openApi,
  type TestApi,
  type TestResponse,
  type TestUser,
  testBaseUrl,
} from "./support/api.ts"
import { databases, describeEachDatabase, type TestDatabase } from "./support/databases.ts"

// More connections than the other suites have: on PostgreSQL the transactions must really get in
// each other's way.
const manyConnections = { HAMLET_DATABASE_CONNECTIONS_MAX: "16" }

describeEachDatabase("concurrency", (open) => {
  let database: TestDatabase
  let api: TestApi
  let userCount = 0

  beforeAll(async () => {
    database = await open()
    api = await openApi(() => Promise.resolve(database), manyConnections)
  })
  afterAll(async () => {
    await api.close()
  })

  const addUser = () => api.addUser(`User${++userCount}`)

  async function addVal(as: TestUser, name: string, code = "1"): Promise<string> {
    return expectStatus(
      await api.call("POST", "/v1/vals", { as, body: { name, code, privacy: "public" } }),
      200,
    ).json.id
  }

  async function getVal(id: string) {
    return expectStatus(await api.call("GET", `/v1/vals/${id}`), 200).json
  }

  async function list(path: string, as?: TestUser) {
    const { data, links } = expectStatus(
      await api.call("GET", `${path}?limit=100`, { as }),
      200,
    ).json
    expect(links.next).toBeUndefined()
    return data
  }

  test("POST versions gives 50 parallel saves 50 numbers without a gap", async () => {
    const ada = await addUser()
    const id = await addVal(ada, "busy")
    const saved = await parallel(50, (index) =>
      api.call("POST", `/v1/vals/${id}/versions`, { as: ada, body: { code: `save(${index})` } }),
    )
    expect(tally(saved)).toEqual({ "201": 50 })
    expect(ascending(saved.map(({ json }) => json.version))).toEqual(range(2, 51))
    const kept = new Map(
      (await list(`/v1/vals/${id}/versions`)).map((version: { version: number; code: string }) => [
        version.version,
        version.code,
      ]),
    )
    expect(kept).toEqual(
      new Map([...saved.map(({ json }) => [json.version, json.code] as const), [1, "1"]]),
    )
    expect((await getVal(id)).version).toBe(51)
  })

  test("PUT /v1/vals accepts 50 parallel saves of code with imports, one after the other", async () => {
    const ada = await addUser()
    // Several, because vals that begin to refer to one and the same val take turns in the database.
    for (const index of range(0, 9)) await addVal(ada, `library${index}`)
    const code = (index: number) =>
      `import x from "${testBaseUrl}/v/${ada.username}/library${index % 10}"\nexport default x + ${index}`
    const saved = await parallel(50, (index) =>
      api.call("PUT", "/v1/vals", {
        as: ada,
        body: { name: `user${index}`, code: code(index), privacy: "public" },
      }),
    )
    expect(tally(saved)).toEqual({ "200": 50 })
    expect((await list("/v1/me/references", ada)).length).toBe(50)
  })

  test("GET /v/{username}/{val_name} serves 60 modules at once to a browser", async () => {
    const ada = await addUser()
    for (const index of range(1, 60))
      await addVal(ada, `module${index}`, `export const value: number = ${index}`)
    const read = await parallel(60, (index) =>
      api.call("GET", `/v/${ada.username}/module${index + 1}`, {
        headers: { "user-agent": "Mozilla/5.0" },
      }),
    )
    expect(tally(read)).toEqual({ "200": 60 })
    expect(read.map(({ text }) => text.includes("number"))).not.toContain(true)
  })

  test("POST /v1/vals gives the name to one of 50 parallel creates, ignoring case", async () => {
    const ada = await addUser()
    const saved = await parallel(50, (index) =>
      api.call("PUT", "/v1/vals", { as: ada, body: { name: "wanted", code: `${index}` } }),
    )
    expect(tally(saved)).toEqual({ "200": 50 })
    expect(new Set(saved.map(({ json }) => json.id)).size).toBe(1)
    expect(ascending(saved.map(({ json }) => json.version))).toEqual(range(1, 50))
    expect(await list(`/v1/users/${ada.id}/vals`, ada)).toHaveLength(1)
    expect(await list(`/v1/vals/${saved[0]?.json.id}/versions`, ada)).toHaveLength(50)
  })

  test("PUT /v1/vals creates one val of 50 parallel saves of names that differ in case, and refuses other spellings", async () => {
    const ada = await addUser()
    const names = ["wanted", "Wanted", "WANTED"]
    const saved = await parallel(50, (index) =>
      api.call("PUT", "/v1/vals", { as: ada, body: { name: names[index % 3], code: `${index}` } }),
    )
    const [won, refused] = [
      saved.filter(({ status }) => status === 200),
      saved.filter(({ status }) => status !== 200),
    ]
    expect(new Set(won.map(({ json }) => `${json.id} ${json.name}`)).size).toBe(1)
    expect(new Set(refused.map(({ json }) => json.code))).toEqual(new Set(["name_taken"]))
    expect(await list(`/v1/vals/${won[0]?.json.id}/versions`, ada)).toHaveLength(won.length)
  })

  test("PUT like counts 30 parallel likes of one user once", async () => {
    const ada = await addUser()
    const bob = await addUser()
    const id = await addVal(ada, "liked")
    const like = (method: string) => api.call(method, `/v1/vals/${id}/like`, { as: bob })
    expect(tally(await parallel(30, () => like("PUT")))).toEqual({ "204": 30 })
    expect((await getVal(id)).likeCount).toBe(1)
    expect(tally(await parallel(30, () => like("DELETE")))).toEqual({ "204": 30 })
    expect((await getVal(id)).likeCount).toBe(0)
    expect(tally(await parallel(40, (index) => like(index % 2 === 0 ? "PUT" : "DELETE")))).toEqual({
      "204": 40,
    })
    expect((await getVal(id)).likeCount).toBe((await list("/v1/me/likes", bob)).length)
  })

  test("PUT like counts the parallel likes of 20 users 20 times", async () => {
    const ada = await addUser()
    const fans = await parallel(20, addUser)
    const id = await addVal(ada, "liked")
    expect(
      tally(
        await parallel(40, (index) =>
          api.call("PUT", `/v1/vals/${id}/like`, { as: fans[index % 20] }),
        ),
      ),
    ).toEqual({ "204": 40 })
    expect((await getVal(id)).likeCount).toBe(20)
    expect(
      tally(
        await parallel(20, (index) =>
          api.call("DELETE", `/v1/vals/${id}/like`, { as: fans[index] }),
        ),
      ),
    ).toEqual({ "204": 20 })
    expect((await getVal(id)).likeCount).toBe(0)
  })

  test("If-Match lets exactly one of 50 parallel saves win", async () => {
    const ada = await addUser()
    const id = await addVal(ada, "guarded")
    const headers = { "if-match": '"1"' }
    const saved = await parallel(50, (index) => {
      const code = `save(${index})`
      return index % 2 === 0
        ? api.call("POST", `/v1/vals/${id}/versions`, { as: ada, headers, body: { code } })
        : api.call("PUT", "/v1/vals", { as: ada, headers, body: { name: "guarded", code } })
    })
    const [won, ...others] = saved.filter(({ status }) => status < 400)
    expect(others).toEqual([])
    expect(tally(saved)["412 version_conflict"]).toBe(49)
    expect(await getVal(id)).toMatchObject({ version: 2, code: won?.json.code })
  })

  test("PUT /v1/vals/{val_id} gives the name to one of 20 parallel renames", async () => {
    const ada = await addUser()
    const ids = await parallel(20, (index) => addVal(ada, `candidate${index}`))
    const renamed = await parallel(20, (index) =>
      api.call("PUT", `/v1/vals/${ids[index]}`, {
        as: ada,
        body: { name: index % 2 === 0 ? "elected" : "Elected" },
      }),
    )
    expect(tally(renamed)).toEqual({ "204": 1, "409 name_taken": 19 })
    const names = (await list(`/v1/users/${ada.id}/vals`)).map((val: { name: string }) =>
      val.name.toLowerCase(),
    )
    expect(names.filter((name: string) => name === "elected")).toHaveLength(1)
    expect(new Set(names).size).toBe(20)
  })

  test("parallel create, save and rename give a name to one val", async () => {
    const ada = await addUser()
    const ids = await parallel(10, (index) => addVal(ada, `candidate${index}`))
    const body = { name: "contested", code: "1" }
    const responses = await parallel(30, (index) => {
      if (index % 3 === 0) return api.call("POST", "/v1/vals", { as: ada, body })
      if (index % 3 === 1)
        return api.call("PUT", "/v1/vals", { as: ada, body: { ...body, code: `${index}` } })
      return api.call("PUT", `/v1/vals/${ids[(index - 2) / 3]}`, {
        as: ada,
        body: { name: "Contested" },
      })
    })
    expect(
      Object.keys(tally(responses)).every((kind) =>
        ["200", "204", "409 name_taken"].includes(kind),
      ),
    ).toBe(true)
    const names = (await list(`/v1/users/${ada.id}/vals`, ada)).map((val: { name: string }) =>
      val.name.toLowerCase(),
    )
    expect(names.filter((name: string) => name === "contested")).toHaveLength(1)
    expect(new Set(names).size).toBe(names.length)
  })

  test("five writers of one branch, others that branch and delete versions: every write is a version", async () => {
    await writeTogether(() => api, await addUser(), 12)
  })

  test("DELETE versions never deletes the last of 20 when all are deleted in parallel", async () => {
    const ada = await addUser()
    const id = await addVal(ada, "shrinking")
    for (const version of range(2, 20))
      await api.call("POST", `/v1/vals/${id}/versions`, { as: ada, body: { code: `${version}` } })
    const deleted = await parallel(20, (index) =>
      api.call("DELETE", `/v1/vals/${id}/versions/${index + 1}`, { as: ada }),
    )
    expect(tally(deleted)).toEqual({ "204": 19, "409 last_version": 1 })
    const left = await list(`/v1/vals/${id}/versions`)
    expect(left).toHaveLength(1)
    expect(await getVal(id)).toMatchObject({ version: left[0].version, code: left[0].code })
  })

  test("DELETE versions and POST versions in parallel neither reuse a number nor lose a save", async () => {
    const ada = await addUser()
    const id = await addVal(ada, "churning")
    const responses = await parallel(60, (index) =>
      index % 2 === 0
        ? api.call("POST", `/v1/vals/${id}/versions`, { as: ada, body: { code: `save(${index})` } })
        : api.call("DELETE", `/v1/vals/${id}/versions/${(index + 1) / 2}`, { as: ada }),
    )
    const saved = responses.filter((_, index) => index % 2 === 0)
    const deleted = responses.filter((_, index) => index % 2 === 1)
    expect(tally(saved)).toEqual({ "201": 30 })
    expect(ascending(saved.map(({ json }) => json.version))).toEqual(range(2, 31))
    expect(
      Object.keys(tally(deleted)).every((kind) =>
        ["204", "404 version_not_found", "409 last_version"].includes(kind),
      ),
    ).toBe(true)
    const left = (await list(`/v1/vals/${id}/versions`)).map(
      ({ version }: { version: number }) => version,
    )
    const gone = deleted.flatMap(({ status }, index) => (status === 204 ? [index + 1] : []))
    expect(left).toEqual(
      range(1, 31)
        .filter((version) => !gone.includes(version))
        .reverse(),
    )
    expect((await getVal(id)).version).toBe(left[0])
  })

  /**
   * Every val's references as the list has them, against the code of all vals; and its count,
   * against the list as a visitor sees it.
   */
  async function expectTrueReferences(owners: readonly TestUser[]): Promise<void> {
    const vals: SavedVal[] = (
      await Promise.all(owners.map((owner) => list(`/v1/users/${owner.id}/vals`, owner)))
    ).flat()
    for (const val of vals) {
      const owner = owners.find(({ id }) => id === val.author.id)
      const importers = vals.filter(
        (other) =>
          other !== val && importedAddresses(other.code).includes(addressOf(val.author, val.name)),
      )
      const listed = importers.filter(
        ({ privacy, author }) => privacy === "public" || author.id === owner?.id,
      )
      const references = await list(`/v1/vals/${val.id}/references`, owner)
      expect(ascending(references.map(idOfReference))).toEqual(
        ascending(listed.map(({ id }) => id)),
      )
      const counted = importers.filter(({ privacy }) => privacy === "public").length
      const shown =
        val.privacy === "private" ? counted : (await list(`/v1/vals/${val.id}/references`)).length
      expect({ shown, referenceCount: val.referenceCount }).toEqual({
        shown: counted,
        referenceCount: counted,
      })
    }
  }

  test("referenceCount is correct after parallel saves of vals that import each other", async () => {
    const owners = await parallel(6, addUser)
    const ids = await Promise.all(owners.map((owner) => addVal(owner, "ring")))
    const responses = await parallel(60, (index) => {
      const imported = owners
        .filter((_, other) => isChosen(index, other))
        .map((owner) => addressOf(owner, "ring"))
      const body = { code: importing(imported, index) }
      return api.call("POST", `/v1/vals/${ids[index % 6]}/versions`, {
        as: owners[index % 6],
        body,
      })
    })
    expect(tally(responses)).toEqual({ "201": 60 })
    await expectTrueReferences(owners)
  })

  test("referenceCount is correct after vals that import each other are saved, created, renamed, hidden and deleted in parallel", async () => {
    const owners = await parallel(4, addUser)
    const names = ["ring", "Ring", "round"]
    const addresses = owners.flatMap((owner) => [
      addressOf(owner, "ring"),
      addressOf(owner, "round"),
    ])
    for (const round of range(0, 3)) {
      const vals: SavedVal[][] = await Promise.all(
        owners.map((owner) => list(`/v1/users/${owner.id}/vals`, owner)),
      )
      const responses = await parallel(40, (index) => {
        const as = owners[index % 4]
        const name = names[(index + round) % 3]
        const path = `/v1/vals/${vals[index % 4]?.[index % 3]?.id ?? as?.id}`
        const step = Math.floor(index / 4)
        if (step === 0) return api.call("PUT", path, { as, body: { name } })
        if (step === 1)
          return api.call("PUT", path, {
            as,
            body: { privacy: round % 2 === 0 ? "private" : "public" },
          })
        if (step === 2) return api.call("DELETE", `${path}/versions/${round + 2}`, { as })
        if (step === 3 && index % 4 === round) return api.call("DELETE", path, { as })
        const code = importing(
          addresses.filter((_, other) => isChosen(index + round, other)),
          index,
        )
        return api.call("PUT", "/v1/vals", {
          as,
          body: { name, code, ...(step === 4 ? { privacy: "public" } : {}) },
        })
      })
      expect(responses.filter(({ status }) => status >= 429).map(({ text }) => text)).toEqual([])
      await expectTrueReferences(owners)
    }
  })

  test("Idempotency-Key creates one val of 30 parallel creates", async () => {
    const ada = await addUser()
    const create = () =>
      api.call("POST", "/v1/vals", {
        as: ada,
        headers: { "idempotency-key": "once" },
        body: { code: "1", privacy: "public" },
      })
    const responses = await parallel(30, create)
    const { "200": created = 0, "409 idempotency_in_flight": refused = 0 } = tally(responses)
    expect(created).toBeGreaterThan(0)
    expect(created + refused).toBe(30)
    const vals = await list(`/v1/users/${ada.id}/vals`, ada)
    expect(vals).toHaveLength(1)
    for (const { status, json } of [...responses, await create()])
      if (status === 200) expect(json).toEqual(vals[0])
  })

  test("PUT secrets never exceeds the limit with parallel new secrets", async () => {
    const ada = await addUser()
    const put = (name: string) =>
      api.call("PUT", `/v1/me/secrets/${name}`, { as: ada, body: { value: "x" } })
    const free = 10
    // A few at a time: so many at once would wait for a connection longer than they may, where the
    // machine is slow.
    for (let from = 0; from < limits.secretsPerUserMax - free; from += free)
      expect(tally(await parallel(free, (index) => put(`OLD_${from + index}`)))).toEqual({
        "204": free,
      })
    expect(tally(await parallel(40, (index) => put(`NEW_${index}`)))).toEqual({
      "204": free,
      "409 too_many_secrets": 40 - free,
    })
    expect(tally(await parallel(20, (index) => put(`OLD_${index % 3}`)))).toEqual({ "204": 20 })
    const pages = await parallel(3, (index) =>
      api.call("GET", `/v1/me/secrets?limit=100&offset=${index * 100}`, { as: ada }),
    )
    expect(pages.map(({ json }) => json.data.length)).toEqual([100, 100, 0])
  })

  test("DELETE of a val while it is saved, liked, commented on and read is never a 500", async () => {
    const ada = await addUser()
    const bob = await addUser()
    const importer = await addVal(ada, "importer")
    for (const round of range(1, 5)) {
      const id = await addVal(ada, "doomed")
      const path = `/v1/vals/${id}`
      await api.call("PUT", `${path}/like`, { as: bob })
      const responses = await parallel(49, (index) => {
        if (index === 20) return api.call("DELETE", path, { as: ada })
        if (index % 8 === 0)
          return api.call("POST", `${path}/versions`, {
            as: ada,
            body: { code: importing([addressOf(ada, "importer")], index) },
          })
        if (index % 8 === 1) return api.call("PUT", `${path}/like`, { as: bob })
        if (index % 8 === 2) return api.call("DELETE", `${path}/like`, { as: bob })
        if (index % 8 === 3)
          return api.call("POST", `${path}/comments`, { as: bob, body: { comment: "gone?" } })
        if (index % 8 === 4) return api.call("PUT", path, { as: ada, body: { readme: `${index}` } })
        if (index % 8 === 5) return api.call("GET", `${path}/versions/1`)
        if (index % 8 === 6) return api.call("DELETE", `${path}/versions/1`, { as: ada })
        return api.call("POST", `/v1/vals/${importer}/versions`, {
          as: ada,
          body: { code: importing([addressOf(ada, "doomed")], round * 100 + index) },
        })
      })
      const kinds = [
        "200",
        "201",
        "204",
        "404 val_not_found",
        "404 version_not_found",
        "409 last_version",
      ]
      expect(
        responses.filter((response) => !kinds.includes(kindOf(response))).map(({ text }) => text),
      ).toEqual([])
      expectStatus(await api.call("GET", path, { as: ada }), 404)
      expect(await list("/v1/me/likes", bob)).toEqual([])
      expect(await list("/v1/me/comments", bob)).toEqual([])
      expect(await list(`/v1/vals/${importer}/dependencies`)).toEqual([])
      expect((await getVal(importer)).referenceCount).toBe(0)
    }
  })

  test("parallel deletions of one val succeed once", async () => {
    const ada = await addUser()
    const id = await addVal(ada, "doomed")
    const { json } = await api.call("POST", `/v1/vals/${id}/comments`, {
      as: ada,
      body: { comment: "once" },
    })
    expect(
      tally(await parallel(10, () => api.call("DELETE", `/v1/comments/${json.id}`, { as: ada })))[
        "204"
      ],
    ).toBeGreaterThan(0)
    expect(
      tally(await parallel(20, () => api.call("DELETE", `/v1/vals/${id}`, { as: ada }))),
    ).toEqual({
      "204": 1,
      "404 val_not_found": 19,
    })
  })

  test("the database has broken no deadlock", async () => {
    await api.hamlet.stop()
    if (database.url !== undefined) expect(await countDeadlocks(database)).toBe(0)
  })
})

const server = databases.find(({ name }) => name === "PostgreSQL")

if (server === undefined) notRun("two nodes on one database", "HAMLET_TEST_POSTGRES_URL is not set")
else
  describe("two nodes on one database (PostgreSQL)", () => {
    let database: TestDatabase
    let left: TestApi
    let right: TestApi

    beforeAll(async () => {
      database = await server.open()
      left = await openApi(() => Promise.resolve(database))
      right = await openApi(() => Promise.resolve(database))
    })
    afterAll(async () => {
      await right.hamlet.stop()
      await left.close()
    })

    const nodeOf = (index: number) => (index % 2 === 0 ? left : right)

    test("a save on one node is visible on the other at once", async () => {
      const ada = await left.addUser("Ada")
      const created = expectStatus(
        await left.call("POST", "/v1/vals", {
          as: ada,
          body: { name: "hello", code: "1", privacy: "public" },
        }),
        200,
      ).json
      for (const version of range(2, 20)) {
        const saved = expectStatus(
          await nodeOf(version).call("POST", `/v1/vals/${created.id}/versions`, {
            as: ada,
            body: { code: `${version}` },
          }),
          201,
        ).json
        expect(saved.version).toBe(version)
        expect((await nodeOf(version + 1).call("GET", `/v1/vals/${created.id}`)).json).toEqual(
          saved,
        )
      }
    })

    test("parallel saves on both nodes get different numbers without a gap", async () => {
      const bob = await left.addUser("Bob")
      const saved = await parallel(40, (index) =>
        nodeOf(index).call("PUT", "/v1/vals", {
          as: bob,
          body: { name: "busy", code: `${index}` },
        }),
      )
      expect(tally(saved)).toEqual({ "200": 40 })
      expect(ascending(saved.map(({ json }) => json.version))).toEqual(range(1, 40))
      expect(new Set(saved.map(({ json }) => json.id)).size).toBe(1)
    })

    test("five writers of one branch on both nodes: every write is a version", async () => {
      let count = 0
      await writeTogether(() => nodeOf(++count), await left.addUser("Eve"), 6)
    })

    test("a token that one node revoked is refused by the other at once", async () => {
      const cy = await left.addUser("Cy")
      for (const index of range(0, 9)) {
        const { json } = await nodeOf(index).call("POST", "/v1/me/tokens", {
          as: cy,
          body: { name: "short-lived", scopes: ["user:read"] },
        })
        for (const node of [left, right])
          expectStatus(await node.call("GET", "/v1/me", { as: json.token as string }), 200)
        expectStatus(
          await nodeOf(index).call("DELETE", `/v1/me/tokens/${json.id}`, { as: cy }),
          204,
        )
        for (const node of [right, left])
          expectStatus(await node.call("GET", "/v1/me", { as: json.token as string }), 401)
      }
    })

    test("one Idempotency-Key on both nodes creates one val", async () => {
      const dee = await left.addUser("Dee")
      const create = (index: number) =>
        nodeOf(index).call("POST", "/v1/vals", {
          as: dee,
          headers: { "idempotency-key": "once" },
          body: { code: "1", privacy: "public" },
        })
      const responses = [...(await parallel(20, create)), await create(0), await create(1)]
      const vals = (await left.call("GET", `/v1/users/${dee.id}/vals`)).json.data
      expect(vals).toHaveLength(1)
      for (const { status, json } of responses) {
        if (status === 200) expect(json).toEqual(vals[0])
        else expect(json.code).toBe("idempotency_in_flight")
      }
      expect(responses.slice(-2).map(({ status }) => status)).toEqual([200, 200])
    })
  })

/** A file and the text that it has since a version. */
interface Written {
  readonly version: number
  readonly path: string
  readonly text: string
}

/**
 * Five writers change files of one branch through `/v1` and `/v2`, while others make and delete
 * branches, delete old versions and read. Every write must be acknowledged, and be the version that
 * it was acknowledged as: numbers without a gap, texts as they were sent.
 */
async function writeTogether(apiOf: () => TestApi, ada: TestUser, rounds: number): Promise<void> {
  const send = async (method: string, path: string, body: unknown, ...statuses: number[]) => {
    const answer = await apiOf().call(method, path, { as: ada, body })
    if (!statuses.includes(answer.status))
      throw new Error(`${method} ${path} responded with ${answer.status}: ${answer.text}`)
    return answer.json
  }
  const vals = await Promise.all(
    ["shared", "library"].map((name) =>
      send("POST", "/v1/vals", { name, code: "0", privacy: "public" }, 200),
    ),
  )
  const [{ id }] = vals as [{ id: string }]
  const val = `/v1/vals/${id}`
  const at = (path: string, query = "") => `/v2/vals/${id}/files?path=${path}${query}`
  const written: Written[] = []
  const note = (version: number, path: string, text: string) =>
    written.push({ version, path, text })
  const toCode = (text: string) => `import "${addressOf(ada, "library")}"\n// ${text}`
  /** How many versions each writer makes in a round. */
  const writers: readonly (readonly [number, (round: number) => Promise<unknown>])[] = [
    [
      1,
      async (round) => {
        const text = round % 2 === 0 ? toCode(`v1 ${round}`) : `// v1 ${round}`
        note((await send("POST", `${val}/versions`, { code: text }, 201)).version, "main.tsx", text)
      },
    ],
    [
      3,
      async (round) => {
        const file = { type: "script", content: toCode(`v2 ${round}`) }
        const made = await send("POST", at(`v2/${round}.ts`), file, 201)
        note(made.version, `v2/${round}.ts`, file.content)
        const changed = await send("PUT", at(`v2/${round}.ts`), { content: `// ${round}` }, 200)
        note(changed.version, `v2/${round}.ts`, `// ${round}`)
        const place = { parent_path: `moved/${round}`, name: "x.ts" }
        const moved = await send("PUT", at(`v2/${round}.ts`), place, 200)
        note(moved.version, `moved/${round}/x.ts`, `// ${round}`)
      },
    ],
    [
      1,
      async (round) => {
        const paths = ["many/a.ts", `many/b${round}.ts`, "many/c.md"]
        const changes = paths.map((path) => ({ path, content: toCode(`${path} ${round}`) }))
        const saved = await send("POST", `${val}/files`, { changes }, 200)
        for (const { path, content } of changes) note(saved.version, path, content)
      },
    ],
    [1, (round) => send("PUT", val, { readme: `readme ${round}` }, 204)],
    [
      2,
      async (round) => {
        const made = await send("POST", at(`gone/f${round}`), { type: "file", content: "1" }, 201)
        note(made.version, `gone/f${round}`, "1")
        await send("DELETE", at(`gone/f${round}`, "&recursive=true"), undefined, 204)
      },
    ],
  ]
  const deleted = new Set<number>()
  const others: readonly ((round: number) => Promise<unknown>)[] = [
    async (round) => {
      const name = `b${round}`
      const branch = await send("POST", `/v2/vals/${id}/branches`, { name }, 201)
      const file = { type: "script", content: toCode(name) }
      const path = at(`${name}.ts`, `&branch_id=${branch.id}`)
      expect((await send("POST", path, file, 201)).version).toBe(1)
      if (round % 2 === 0)
        await send("DELETE", `/v2/vals/${id}/branches/${branch.id}`, undefined, 204)
    },
    async () => {
      // Not the newest: a file that it made would be gone for its writer.
      const newest = Math.max(0, ...written.map(({ version }) => version))
      const old = written.find(({ version }) => version < newest && !deleted.has(version))
      if (!old) return
      deleted.add(old.version)
      await send("DELETE", `${val}/versions/${old.version}`, undefined, 204)
    },
    () => send("GET", at("", "&recursive=true&limit=100"), undefined, 200),
  ]
  await Promise.all(
    [...writers.map(([, work]) => work), ...others].map(async (work) => {
      for (const round of range(1, rounds)) await work(round)
    }),
  )
  const versionsPerRound = writers.reduce((sum, [count]) => sum + count, 0)
  const { data } = await send("GET", `/v2/vals/${id}/branches?limit=100`, undefined, 200)
  expect(data[0]).toMatchObject({ name: "main", version: 1 + rounds * versionsPerRound })
  for (const { version, path, text } of written) {
    if (deleted.has(version)) continue
    const content = `/v2/vals/${id}/files/content?path=${path}&version=${version}`
    const read = await apiOf().call("GET", content, { as: ada })
    expect([version, path, read.status, read.text]).toEqual([version, path, 200, text])
  }
  // Two writes never get the same number; those of the readme and of deletions are not told.
  const told = new Set(written.map(({ version, path }) => `${version} ${path.split("/")[0]}`))
  expect(new Set(written.map(({ version }) => version)).size).toBe(told.size)
  const [library] = vals.slice(1)
  const { data: references } = await send(
    "GET",
    `/v1/vals/${library.id}/references`,
    undefined,
    200,
  )
  expect(references.map(idOfReference)).toEqual([id])
}

function parallel<Result>(
  count: number,
  work: (index: number) => Promise<Result>,
): Promise<Result[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => work(index)))
}

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}

function ascending<Item extends string | number>(items: readonly Item[]): Item[] {
  return [...items].sort((one, other) => (one < other ? -1 : 1))
}

/** How many answers there are of each kind. */
function tally(responses: readonly TestResponse[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const response of responses) counts[kindOf(response)] = (counts[kindOf(response)] ?? 0) + 1
  return counts
}

function kindOf({ status, json }: TestResponse): string {
  return status < 400 ? `${status}` : `${status} ${json.code}`
}

interface SavedVal {
  readonly id: string
  readonly name: string
  readonly code: string
  readonly privacy: string
  readonly referenceCount: number
  readonly author: { readonly id: string; readonly username: string }
}

function addressOf(owner: { readonly username: string }, name: string): string {
  return `${testBaseUrl}/v/${owner.username}/${name}`.toLowerCase()
}

/** Code that imports those addresses; `salt` makes it different from any other. */
function importing(addresses: readonly string[], salt: number): string {
  return [...addresses.map((address) => `import "${address}"`), `// ${salt}`].join("\n")
}

function importedAddresses(code: string): string[] {
  return [...code.matchAll(/^import "(.*)"$/gm)].map(([, address = ""]) => address)
}

/** About every second one, others each time. */
function isChosen(salt: number, index: number): boolean {
  return ((salt * 7919) >> index) % 2 === 1
}

function idOfReference(item: { reference: { id: string } }): string {
  return item.reference.id
}

/**
 * A connection counts its deadlocks when it ends, so it waits until the connections of the stopped
 * server have.
 */
async function countDeadlocks(database: TestDatabase): Promise<number> {
  await database.db.stop()
  const outsider = new SQL(database.url ?? "", { max: 1 })
  try {
    await waitUntil(async () => {
      const others =
        await outsider`select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`
      return others.length === 0
    })
    const [counted] =
      await outsider`select deadlocks from pg_stat_database where datname = current_database()`
    return Number(counted.deadlocks)
  } finally {
    await outsider.close()
  }
}
