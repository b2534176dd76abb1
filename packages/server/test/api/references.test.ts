import { describe, expect, test } from "bun:test"
import { expectStatus, type TestUser, testBaseUrl } from "../support/api.ts"
import { type ApiSuite, describeApi, refusalOf, type ValView } from "./suite.ts"

const missing = "01890000-0000-7000-8000-000000000000"
const noon = Date.parse("2024-05-01T12:00:00.000Z")

const importOf = (val: ValView) => `import x from "${val.links.module}"\nexport default x`
const endOf = ({ id, name, author }: ValView) => ({
  id,
  name,
  username: author.username,
  author_id: author.id,
  author,
})

type Ends = { reference: { name: string }; dependsOn: { name: string } }
const pairsOf = (json: { data: Ends[] }) =>
  json.data.map(({ reference, dependsOn }) => `${reference.name} → ${dependsOn.name}`)

describeApi("api/references", (suite) => {
  const { call, addUser: person, val } = suite

  test("an import is in the lists of both vals, and is counted", async () => {
    const [ada, bob] = [await person(), await person()]
    const library = await val(ada, { name: "library" })
    const user = await val(bob, { name: "user", code: importOf(library) })
    const expected = {
      referencedAt: expect.stringMatching(/Z$/),
      reference: endOf(user),
      dependsOn: endOf(library),
    }
    for (const [path, as] of [
      [`/v1/vals/${library.id}/references`, undefined],
      [`/v1/vals/${user.id}/dependencies`, undefined],
      ["/v1/me/references", ada],
    ] as const) {
      expect(expectStatus(await call("GET", path, { as }), 200).json.data).toEqual([expected])
    }
    for (const [path, as] of [
      [`/v1/vals/${user.id}/references`, undefined],
      [`/v1/vals/${library.id}/dependencies`, undefined],
      ["/v1/me/references", bob],
    ] as const) {
      expect(expectStatus(await call("GET", path, { as }), 200).json.data).toEqual([])
    }
    expect((await call("GET", `/v1/vals/${library.id}`)).json.referenceCount).toBe(1)
    expect((await call("GET", `/v1/vals/${user.id}`)).json.referenceCount).toBe(0)
  })

  test("an import between vals of one owner counts; an import of itself does not", async () => {
    const ada = await person()
    const library = await val(ada, { name: "library" })
    await val(ada, { name: "own", code: importOf(library) })
    await val(ada, {
      name: "selfish",
      code: `import x from "${testBaseUrl}/v/${ada.username}/selfish"`,
    })
    expect(pairsOf((await call("GET", "/v1/me/references", { as: ada })).json)).toEqual([
      "own → library",
    ])
  })

  test("of code with 16,800 imports are the first thousand", async () => {
    const ada = await person()
    await val(ada, { name: "a0" })
    await val(ada, { name: "acyn" })
    const names = Array.from({ length: 16_800 }, (_, index) => `a${index.toString(36)}`)
    const code = names.map((name) => `import"./${name}"`).join(";")
    const main = await val(ada, { name: "main", code })
    const path = `/v1/vals/${main.id}/dependencies`
    expect(pairsOf((await call("GET", path, { as: ada })).json)).toEqual(["main → a0"])
    const body = { code: `${code};import "./a0"` }
    expectStatus(await call("POST", `/v1/vals/${main.id}/versions`, { as: ada, body }), 201)
  })

  describe("an import", () => {
    for (const [title, code] of [
      ["with a version", (user: string) => `import x from "${testBaseUrl}/v/${user}/library@1"`],
      [
        "with an @ before the user",
        (user: string) => `import x from "${testBaseUrl}/v/@${user}/library"`,
      ],
      [
        "in another case",
        (user: string) => `import x from "${testBaseUrl}/v/${user.toUpperCase()}/LIBRARY"`,
      ],
      [
        "from the service that vals were written for",
        (user: string) => `import x from "https://esm.town/v/${user}/library?v=3"`,
      ],
      [
        "that is dynamic",
        (user: string) => `const x = await import("${testBaseUrl}/v/${user}/library")`,
      ],
      ["that is a re-export", (user: string) => `export * from "${testBaseUrl}/v/${user}/library"`],
      [
        "in TypeScript with JSX",
        (user: string) =>
          `import { a } from "${testBaseUrl}/v/${user}/library"\nexport const b = <p>{a as number}</p>`,
      ],
    ] as const) {
      test(`${title} is a reference`, async () => {
        const ada = await person()
        const library = await val(ada, { name: "library" })
        await val(ada, { name: "user", code: code(ada.username) })
        expect(pairsOf((await call("GET", `/v1/vals/${library.id}/references`)).json)).toEqual([
          "user → library",
        ])
      })
    }

    test("relative to the importing val is a reference to a val of the same owner", async () => {
      const ada = await person()
      const library = await val(ada, { name: "library" })
      await val(ada, { name: "user", code: 'import x from "./library"\nexport default x' })
      expect(pairsOf((await call("GET", `/v1/vals/${library.id}/references`)).json)).toEqual([
        "user → library",
      ])
    })

    for (const [title, code] of [
      ["in a comment", (url: string) => `// import x from "${url}"\n1`],
      ["in a string", (url: string) => `const text = 'import x from "${url}"'`],
      [
        "of types alone from elsewhere",
        (url: string) => `import x from "https://elsewhere.test${new URL(url).pathname}"`,
      ],
      ["in code that does not parse", (url: string) => `import x from "${url}"\n}}}`],
    ] as const) {
      test(`${title} is not a reference`, async () => {
        const ada = await person()
        const library = await val(ada, { name: "library" })
        const user = await val(ada, { name: "user", code: code(library.links.module) })
        expect((await call("GET", `/v1/vals/${user.id}/dependencies`)).json.data).toEqual([])
      })
    }
  })

  describe("references follow", () => {
    test("the current version: a save adds and removes them, and deleting a version restores them", async () => {
      const ada = await person()
      const [one, two] = [await val(ada, { name: "one" }), await val(ada, { name: "two" })]
      const user = await val(ada, { name: "user", code: importOf(one) })
      const save = (code: string) =>
        call("POST", `/v1/vals/${user.id}/versions`, { as: ada, body: { code } })
      const now = async () =>
        pairsOf((await call("GET", `/v1/vals/${user.id}/dependencies`)).json).sort()
      expectStatus(await save(`import "${one.links.module}"\nimport "${two.links.module}"`), 201)
      expect(await now()).toEqual(["user → one", "user → two"])
      expectStatus(await save(importOf(two)), 201)
      expect(await now()).toEqual(["user → two"])
      expectStatus(await save("1"), 201)
      expect(await now()).toEqual([])
      expect(await counts(suite, [one, two])).toEqual([0, 0])
      expectStatus(await call("DELETE", `/v1/vals/${user.id}/versions/4`, { as: ada }), 204)
      expect(await now()).toEqual(["user → two"])
      expect(await counts(suite, [one, two])).toEqual([0, 1])
    })

    test("a val that is created after its importer", async () => {
      const ada = await person()
      await val(ada, {
        name: "early",
        code: `import x from "${testBaseUrl}/v/${ada.username}/late"`,
      })
      const late = await val(ada, { name: "late" })
      expect(pairsOf((await call("GET", `/v1/vals/${late.id}/references`)).json)).toEqual([
        "early → late",
      ])
      expect(await counts(suite, [late])).toEqual([1])
    })

    test("a renamed val: they leave importers of the old name, and join importers of the new name", async () => {
      const ada = await person()
      const library = await val(ada, { name: "library" })
      await val(ada, { name: "user", code: importOf(library) })
      await val(ada, {
        name: "other",
        code: `import x from "${testBaseUrl}/v/${ada.username}/archive"`,
      })
      expectStatus(
        await call("PUT", `/v1/vals/${library.id}`, { as: ada, body: { name: "archive" } }),
        204,
      )
      expect(pairsOf((await call("GET", `/v1/vals/${library.id}/references`)).json)).toEqual([
        "other → archive",
      ])
      expect(await counts(suite, [library])).toEqual([1])
    })

    test("the pinned val of another user, not its name", async () => {
      const [ada, bob] = [await person(), await person()]
      const library = await val(ada, { name: "library", code: "export default 1" })
      const user = await val(bob, { name: "user", code: importOf(library) })
      expectStatus(
        await call("PUT", `/v1/vals/${library.id}`, { as: ada, body: { name: "archive" } }),
        204,
      )
      const other = await val(ada, { name: "library", code: "export default 2" })
      const run = await call("POST", `/v1/run/${bob.username}.user`, { as: bob })
      expect([run.status, run.json]).toEqual([200, 1])
      expect(pairsOf((await call("GET", `/v1/vals/${user.id}/dependencies`)).json)).toEqual([
        "user → archive",
      ])
      expect(pairsOf((await call("GET", "/v1/me/references", { as: ada })).json)).toEqual([
        "user → archive",
      ])
      expect((await call("GET", `/v1/vals/${other.id}/references`)).json.data).toEqual([])
      expect(await counts(suite, [library, other])).toEqual([1, 0])
      // What is saved now is pinned to the val that has the name now, and a version that comes back
      // has its own pins.
      const save = { as: bob, body: { code: `${importOf(other)} // again` } }
      expectStatus(await call("POST", `/v1/vals/${user.id}/versions`, save), 201)
      expect(await counts(suite, [library, other])).toEqual([0, 1])
      expectStatus(await call("DELETE", `/v1/vals/${user.id}/versions/2`, { as: bob }), 204)
      expect(pairsOf((await call("GET", `/v1/vals/${user.id}/dependencies`)).json)).toEqual([
        "user → archive",
      ])
      expect(await counts(suite, [library, other])).toEqual([1, 0])
    })

    test("no val when the pinned one was deleted, even if another takes its name", async () => {
      const [ada, bob] = [await person(), await person()]
      const library = await val(ada, { name: "library" })
      const user = await val(bob, { name: "user", code: importOf(library) })
      expectStatus(await call("DELETE", `/v1/vals/${library.id}`, { as: ada }), 204)
      const other = await val(ada, { name: "library" })
      expect((await call("GET", `/v1/vals/${user.id}/dependencies`)).json.data).toEqual([])
      expect(await counts(suite, [other])).toEqual([0])
    })

    test("an old name and a new name to one val, which counts once", async () => {
      const [ada, bob] = [await person(), await person()]
      const library = await val(ada, { name: "library" })
      const code = `${importOf(library)}\nimport y from "${testBaseUrl}/v/${ada.username}/archive"`
      const user = await val(bob, { name: "user", code })
      expectStatus(
        await call("PUT", `/v1/vals/${library.id}`, { as: ada, body: { name: "archive" } }),
        204,
      )
      expect(pairsOf((await call("GET", `/v1/vals/${user.id}/dependencies`)).json)).toEqual([
        "user → archive",
      ])
      expect(await counts(suite, [library])).toEqual([1])
    })

    test("the deletion of either end", async () => {
      const ada = await person()
      const [library, other] = [
        await val(ada, { name: "library" }),
        await val(ada, { name: "other" }),
      ]
      const [one, two] = [
        await val(ada, { name: "one", code: importOf(library) }),
        await val(ada, { name: "two", code: importOf(other) }),
      ]
      expectStatus(await call("DELETE", `/v1/vals/${one.id}`, { as: ada }), 204)
      expectStatus(await call("DELETE", `/v1/vals/${other.id}`, { as: ada }), 204)
      expect((await call("GET", "/v1/me/references", { as: ada })).json.data).toEqual([])
      expect((await call("GET", `/v1/vals/${two.id}/dependencies`)).json.data).toEqual([])
      expect(await counts(suite, [library])).toEqual([0])
    })
  })

  test("are newest first, paged, and filtered by since and until", async () => {
    const [ada, library, ids] = await withImporters(suite)
    for (const path of [`/v1/vals/${library.id}/references`, "/v1/me/references"]) {
      const ask = async (query: string) => {
        const { json } = expectStatus(await call("GET", `${path}?${query}`, { as: ada }), 200)
        return json.data.map(({ reference }: { reference: { id: string } }) =>
          ids.indexOf(reference.id),
        )
      }
      const at = (hour: number) =>
        encodeURIComponent(new Date(noon + hour * 3_600_000).toISOString())
      expect(await ask("")).toEqual([2, 1, 0])
      expect(await ask("limit=1&offset=1")).toEqual([1])
      expect(await ask(`since=${at(0)}`)).toEqual([2, 1])
      expect(await ask(`until=${at(1)}`)).toEqual([1, 0])
      expect(await ask(`since=${at(0)}&until=${at(1)}`)).toEqual([1])
    }
    const [first = ""] = ids
    const from = `/v1/vals/${first}/dependencies?since=${encodeURIComponent(new Date(noon).toISOString())}`
    expect((await call("GET", from)).json.data).toEqual([])
    expect((await call("GET", from.replace("since", "until"))).json.data).toHaveLength(1)
  })

  test("of a private or missing val are 404", async () => {
    const ada = await person()
    const hidden = await val(ada, { privacy: "private" })
    for (const list of ["references", "dependencies"]) {
      expectStatus(await call("GET", `/v1/vals/${hidden.id}/${list}`, { as: ada }), 200)
      expect(refusalOf(await call("GET", `/v1/vals/${hidden.id}/${list}`))).toEqual([
        404,
        "val_not_found",
      ])
      expect(refusalOf(await call("GET", `/v1/vals/${missing}/${list}`))).toEqual([
        404,
        "val_not_found",
      ])
      expect(refusalOf(await call("GET", `/v1/vals/1/${list}`))).toEqual([400, "invalid_request"])
    }
  })
})

async function counts({ call }: ApiSuite, vals: readonly ValView[]): Promise<readonly number[]> {
  return Promise.all(
    vals.map(async ({ id }) => (await call("GET", `/v1/vals/${id}`)).json.referenceCount),
  )
}

/** A val, and three that import it, saved an hour apart. */
async function withImporters(suite: ApiSuite): Promise<[TestUser, ValView, readonly string[]]> {
  const ada = await suite.addUser()
  const library = await suite.val(ada, { name: "library" })
  const { vals } = suite.api.hamlet.stores
  const { newId } = suite.api.hamlet.nouns.clock
  const ids = [newId(), newId(), newId()]
  for (const [hour, id] of ids.entries()) {
    const imports = [
      {
        username: ada.username,
        name: "library",
        branch: null,
        version: null,
        specifiers: [library.links.module],
      },
    ]
    const source = { code: importOf(library), imports }
    const fields = { privacy: "public", type: "script", readme: null } as const
    await vals.create(
      { id, ownerId: ada.id, ownerName: ada.username, name: `user${hour}`, ...fields, source },
      noon + hour * 3_600_000,
    )
  }
  return [ada, library, ids]
}
