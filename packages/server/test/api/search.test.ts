import { beforeAll, describe, expect, test } from "bun:test"
import { limits } from "@hamlet/contract"
import { expectStatus, type TestUser, testBaseUrl } from "../support/api.ts"
import { rankAll, type SearchData, seedSearchData } from "./search-data.ts"
import { type ApiSuite, describeApi, idsOf, namesOf, refusalOf } from "./suite.ts"

describeApi("api/search", (suite) => {
  describe("matching", () => defineTexts(suite))
  describe("the order", () => defineOrder(suite))
  describe("after a change", () => defineChanges(suite))
  describe("access", () => defineViewers(suite))
  describe("the query", () => defineQuery(suite))
  describe("the time", () => defineTime(suite))
})

describeApi("api/search among many", defineMany)

/** What a search finds: the names of the vals. */
function toSearch({ call }: ApiSuite) {
  return async (query: string, as?: TestUser) =>
    namesOf(
      await call("GET", `/v1/search/vals?limit=100&query=${encodeURIComponent(query)}`, { as }),
    )
}

function defineTexts(suite: ApiSuite): void {
  const { addUser: person, val } = suite
  const search = toSearch(suite)

  test("finds a substring of the name, the code or the readme, ignoring case", async () => {
    const ada = await person()
    await val(ada, { name: "aPelicanName" })
    await val(ada, { name: "inCode", code: "const thePELICANcode = 1" })
    await val(ada, { name: "inReadme", readme: "# My pelicans" })
    await val(ada, { name: "elsewhere", code: "pel ican" })
    for (const query of ["pelican", "PELICAN", "eLiCa"])
      expect((await search(query)).toSorted()).toEqual(["aPelicanName", "inCode", "inReadme"])
  })

  for (const [query, code, other] of [
    ["foo.bar(", "x = foo.bar(1)", "x = fooxbar(1) + foo.bar"],
    ["() =>", "const f = () => 1", "const f = ()=> 1"],
    ["=>", "a=>b", "a = > b"],
    ["100%", "width: 100%", "width: 1000"],
    ["a%z", "'a%z'", "'abcz'"],
    ["%", "1 % 2", "1 mod 2"],
    ["__x", "a.__x", "a.abx"],
    ["q_q", "let q_q", "let qaq"],
    [`it's "so"`, `// it's "so"`, `// it's 'so'`],
    ["\\n\\t", "'\\n\\t'", "'\n\t'"],
    ["`${name}`", "log(`${name}`)", "log(`{name}`)"],
    ["*/ /*", "/* a */ /* b */", "/* a */ b"],
    ["-->", "<!-- a -->", "<!-- a ->"],
    ["a && b || !c", "if (a && b || !c) {}", "if (a & b || !c) {}"],
    ["[0]?.[1]", "x[0]?.[1]", "x[0].[1]"],
    ["  two", "a\n  two", "a\n\ttwo"],
    ["\n\n", "one\n\ntwo", "one\ntwo"],
    ["two\nli", "two\nlines", "two lines"],
    ["😀😃😄", "say('😀😃😄')", "say('😀😃')"],
    ["🦆", "a 🦆 b", "a 🦢 b"],
    ["👩‍👩‍👧", "the 👩‍👩‍👧", "the 👩👩👧"],
    ["漢字かな", "// 漢字かな交じり文", "// 漢字"],
    ["ÉCOLE", "// l'école", "// l'ecole"],
    ["straße", "// die STRAßE", "// die strasse"],
    ["ПРИВЕТ", "// привет, мир", "// прив ет"],
    ["ΟΔΟΣ", "// οδοσήμανση", "// οδοί"],
    ["ος κα", "// ΛΟΓΟΣ ΚΑΙ", "// ΛΟΓΟΙ ΚΑΙ"],
    ["ǆ", "// Ǆ", "// dz"],
    ["\uffff\ufffe", "// \uffff\ufffe", "// \uffff"],
    ["ᐡᐢᐣ", "// ᐡᐢᐣ", "// ᐡᐢ"],
  ] as const) {
    test(`finds text with its punctuation: ${JSON.stringify(query)}`, async () => {
      const ada = await person()
      await val(ada, { name: "match", code })
      await val(ada, { name: "other", code: other })
      await val(ada, { name: "readme", code: "1", readme: code })
      expect((await search(query)).toSorted()).toEqual(["match", "readme"])
      for (const { id } of (await suite.call("GET", `/v1/users/${ada.id}/vals`)).json.data)
        await suite.call("DELETE", `/v1/vals/${id}`, { as: ada })
    })
  }

  test("does not match across code and readme", async () => {
    await val(await person(), { name: "seam", code: "left-seam", readme: "right-seam" })
    for (const query of ["seam\nright", "seamright", "seam right"])
      expect(await search(query)).toEqual([])
  })

  test("does not search owner names, types or ids", async () => {
    const ada = await person()
    const { id } = await val(ada, { type: "interval" })
    for (const query of [ada.username, "interval", id.slice(0, 13)])
      expect(await search(query)).toEqual([])
  })

  test("matches only the beginning of a name when the query has fewer than three characters", async () => {
    const ada = await person()
    await val(ada, { name: "zqFirst" })
    await val(ada, { name: "firstZq" })
    await val(ada, { name: "neither", code: "zq zq", readme: "zq" })
    for (const query of ["zq", "ZQ"]) expect(await search(query)).toEqual(["zqFirst"])
    expect(await search("z")).toEqual(["zqFirst"])
    expect((await search("zqf")).toSorted()).toEqual(["zqFirst"])
  })

  test("searches code and readme when a short query matches no name", async () => {
    const ada = await person()
    await val(ada, { name: "shortCode", code: "a ⊕ b" })
    await val(ada, { name: "shortReadme", readme: "⊕" })
    expect((await search("⊕")).toSorted()).toEqual(["shortCode", "shortReadme"])
    expect(await search("⊕ ")).toEqual(["shortCode"])
  })

  test("returns whole vals, and the file that was found", async () => {
    const made = await val(await person(), { code: "cassowary" })
    const { json } = expectStatus(await suite.call("GET", "/v1/search/vals?query=cassowary"), 200)
    expect(json.data).toEqual([{ ...made, file: "main.tsx" }])
  })
}

function defineOrder(suite: ApiSuite): void {
  const { call, addUser: person, val } = suite
  const search = toSearch(suite)

  test("has matches in names first, then most likes, then newest", async () => {
    const [ada, bob, eve] = [await person(), await person(), await person()]
    const like = async (id: string, ...people: readonly TestUser[]) => {
      for (const as of people) expectStatus(await call("PUT", `/v1/vals/${id}/like`, { as }), 204)
    }
    await val(ada, { name: "oldBitternName" })
    const body = await val(ada, { name: "liked", code: "bittern" })
    await val(ada, { name: "plain", readme: "bittern" })
    const name = await val(ada, { name: "bitternLiked" })
    await val(ada, { name: "newBitternName", code: "bittern" })
    const favourite = await val(ada, { name: "favourite", code: "bittern" })
    await val(ada, { name: "newest", code: "BITTERN" })
    await like(body.id, bob)
    await like(name.id, bob)
    await like(favourite.id, bob, eve)
    expect(await search("bittern")).toEqual([
      "bitternLiked",
      "newBitternName",
      "oldBitternName",
      "favourite",
      "liked",
      "newest",
      "plain",
    ])
    expectStatus(await call("DELETE", `/v1/vals/${name.id}/like`, { as: bob }), 204)
    expect((await search("bittern")).slice(0, 3)).toEqual([
      "newBitternName",
      "bitternLiked",
      "oldBitternName",
    ])
  })

  test("includes the caller's hidden vals at their position", async () => {
    const [ada, bob] = [await person(), await person()]
    await val(ada, { name: "hiddenAvocet", privacy: "private" })
    await val(bob, { name: "shownAvocet" })
    await val(ada, { name: "code1", privacy: "unlisted", code: "avocet" })
    await val(bob, { name: "code2", code: "avocet" })
    await val(ada, { name: "code3", privacy: "private", code: "avocet" })
    expect(await search("avocet", ada)).toEqual([
      "shownAvocet",
      "hiddenAvocet",
      "code3",
      "code2",
      "code1",
    ])
    expect(await search("avocet", bob)).toEqual(["shownAvocet", "code2"])
    const second = await call("GET", "/v1/search/vals?query=avocet&limit=2&offset=1", { as: ada })
    expect(namesOf(second)).toEqual(["hiddenAvocet", "code3"])
  })

  test("is divided into pages without repeats or gaps", async () => {
    const ada = await person()
    const names = ["e", "d", "c", "b", "a"].map((letter) => `jacana_${letter}`)
    for (const name of names.toReversed()) await val(ada, { name })
    const seen: string[] = []
    let path: string | undefined = "/v1/search/vals?query=jacana_&limit=2"
    for (let page = 0; path !== undefined && page < names.length; page += 1) {
      const response = await call("GET", path)
      seen.push(...namesOf(response))
      const { next } = response.json.links
      path = next === undefined ? undefined : new URL(next).pathname + new URL(next).search
    }
    expect(seen).toEqual(names)
    const last = expectStatus(
      await call("GET", "/v1/search/vals?query=jacana_&limit=2&offset=4"),
      200,
    ).json
    expect(Object.keys(last.links).toSorted()).toEqual(["prev", "self"])
    const beyond = expectStatus(
      await call("GET", "/v1/search/vals?query=jacana_&offset=999999999999999"),
      200,
    ).json
    expect(beyond.data).toEqual([])
  })
}

function defineChanges(suite: ApiSuite): void {
  const { call, addUser: person, val } = suite
  const search = toSearch(suite)

  test("finds the current state: a save, a rename, a readme", async () => {
    const ada = await person()
    const { id } = await val(ada, { name: "toucanOne", code: "kiwiOne", readme: "emuOne" })
    expectStatus(
      await call("POST", `/v1/vals/${id}/versions`, { as: ada, body: { code: "kiwiTwo" } }),
      201,
    )
    expectStatus(
      await call("PUT", `/v1/vals/${id}`, {
        as: ada,
        body: { name: "toucanTwo", readme: "emuTwo" },
      }),
      204,
    )
    for (const gone of ["toucanOne", "kiwiOne", "emuOne"]) expect(await search(gone)).toEqual([])
    for (const there of ["toucanTwo", "kiwiTwo", "emuTwo"])
      expect(await search(there)).toEqual(["toucanTwo"])
    expectStatus(
      await call("PUT", "/v1/vals", {
        as: ada,
        body: { name: "toucanTwo", code: "kiwiThree", readme: null },
      }),
      200,
    )
    for (const gone of ["kiwiTwo", "emuTwo"]) expect(await search(gone)).toEqual([])
    expect(await search("kiwiThree")).toEqual(["toucanTwo"])
  })

  test("finds the code of the version that became current by a deletion", async () => {
    const ada = await person()
    const { id } = await val(ada, { name: "back", code: "rheaOne" })
    expectStatus(
      await call("POST", `/v1/vals/${id}/versions`, { as: ada, body: { code: "rheaTwo" } }),
      201,
    )
    expect(await search("rheaOne")).toEqual([])
    expectStatus(await call("DELETE", `/v1/vals/${id}/versions/2`, { as: ada }), 204)
    expect(await search("rheaOne")).toEqual(["back"])
    expect(await search("rheaTwo")).toEqual([])
  })

  test("does not find the code of an old version", async () => {
    const ada = await person()
    const { id } = await val(ada, { name: "stays", code: "moaOne" })
    expectStatus(
      await call("POST", `/v1/vals/${id}/versions`, { as: ada, body: { code: "moaTwo" } }),
      201,
    )
    expectStatus(await call("DELETE", `/v1/vals/${id}/versions/1`, { as: ada }), 204)
    expect(await search("moaOne")).toEqual([])
    expect(await search("moaTwo")).toEqual(["stays"])
  })

  test("does not find a deleted val", async () => {
    const ada = await person()
    const { id } = await val(ada, { name: "dodoName", code: "dodoCode" })
    expectStatus(await call("DELETE", `/v1/vals/${id}`, { as: ada }), 204)
    for (const as of [undefined, ada])
      for (const query of ["dodo", "dodoName", "dodoCode"])
        expect(await search(query, as)).toEqual([])
  })

  test("shows a val to others while it is public, and always to its owner", async () => {
    const ada = await person()
    const { id } = await val(ada, { name: "shyName", code: "plover", privacy: "private" })
    for (const privacy of ["public", "unlisted", "public", "private", "public"]) {
      expectStatus(await call("PUT", `/v1/vals/${id}`, { as: ada, body: { privacy } }), 204)
      for (const query of ["shyName", "plover"]) {
        expect(await search(query)).toEqual(privacy === "public" ? ["shyName"] : [])
        expect(await search(query, ada)).toEqual(["shyName"])
      }
    }
  })
}

function defineViewers(suite: ApiSuite): void {
  const { call, addUser: person, val } = suite
  const search = toSearch(suite)

  test("shows a val that is not public to its owner only, also for short queries", async () => {
    const [ada, bob] = [await person(), await person()]
    await val(ada, { name: "wwHidden", privacy: "private", code: "⊗ whimbrel" })
    await val(ada, { name: "wwUnlisted", privacy: "unlisted", readme: "⊗ whimbrel" })
    for (const query of ["whimbrel", "ww", "⊗", "wwUnl"]) {
      for (const as of [undefined, bob])
        expect([query, await search(query, as)]).toEqual([query, []])
    }
    expect((await search("whimbrel", ada)).toSorted()).toEqual(["wwHidden", "wwUnlisted"])
    expect((await search("ww", ada)).toSorted()).toEqual(["wwHidden", "wwUnlisted"])
    expect((await search("⊗", ada)).toSorted()).toEqual(["wwHidden", "wwUnlisted"])
  })

  test("requires the scope to read vals if a token is sent", async () => {
    const ada = await person()
    const { json } = await call("POST", "/v1/me/tokens", {
      as: ada,
      body: { name: "t", scopes: ["user:read"] },
    })
    expect(refusalOf(await call("GET", "/v1/search/vals?query=x", { as: json.token }))).toEqual([
      403,
      "missing_scope",
    ])
  })
}

function defineQuery({ call }: ApiSuite): void {
  for (const query of [
    "x",
    "x".repeat(limits.queryCharsMax),
    "%20",
    "+",
    "%00a".slice(3),
    "'",
    "a%26b",
    "%F0%9F%A6%86",
    "%22",
    "*",
    "OR",
    "NEAR(a b)",
    "name:x",
    "^a",
    "a%0Ab",
    "%ED%A0%80",
  ]) {
    test(`may be ${query.slice(0, 30)}`, async () => {
      expectStatus(await call("GET", `/v1/search/vals?query=${query}`), 200)
    })
  }

  for (const query of [
    "",
    "query=",
    `query=${"x".repeat(limits.queryCharsMax + 1)}`,
    "query=%00",
    "query=a%00b",
    "query=a&query=b",
    "q=a",
    "query[]=a",
  ]) {
    test(`may not be ${query.slice(0, 30) || "missing"}`, async () => {
      const response = await call("GET", `/v1/search/vals?${query}`)
      expect(refusalOf(response)).toEqual([400, "invalid_request"])
      expect(response.json.issues[0].path).toBe("query")
    })
  }
}

function defineTime(suite: ApiSuite): void {
  test("for comparing long texts does not delay other requests", async () => {
    const ada = await suite.addUser()
    // Each place of the text is nearly the beginning of what is looked for.
    for (let count = 0; count < 12; count++)
      await suite.val(ada, { code: `//${"-".repeat(limits.codeCharsMax - 2)}` })
    const order: string[] = []
    const query = `${"-".repeat(limits.queryCharsMax - 1)}!`
    // Sent once: its time may be up each time.
    const url = `${testBaseUrl}/v1/search/vals?query=${encodeURIComponent(query)}`
    const search = suite.api.hamlet.app.request(url).then(({ status }) => {
      order.push("search")
      return status
    })
    await suite.call("GET", "/v1/me", { as: ada }).then(() => order.push("me"))
    expect([200, 504]).toContain(await search)
    expect(order).toEqual(["me", "search"])
  })
}

/**
 * Enough vals that each of the ways to search is taken: the sample, the walk down the ranking, and
 * the index.
 */
function defineMany(suite: ApiSuite): void {
  let many: SearchData
  beforeAll(async () => {
    many = await seedSearchData(suite)
  }, 180_000)

  for (const query of [
    // In nearly every text, in one of ten, in one of fifty, in three at the end of the ranking, in
    // none.
    "export default",
    "tenth",
    "fiftieth",
    "needleAtTheEnd",
    "nowhere at all",
    // In a third of the names, in one of a hundred, in names and codes alike.
    "Third",
    "Hundredth",
    "mixed",
    // Short: the beginning of a name, or punctuation.
    "v",
    "va",
    "v1",
    "zz",
    "=>",
    "⊕",
    "()",
    // Punctuation and case.
    "v1_",
    "foo.bar(",
    "() =>",
    "ÜBER",
    "%s%",
  ]) {
    test(`finds ${JSON.stringify(query)} in the same order as a full scan`, async () => {
      for (const viewer of [undefined, many.ada, many.bob]) {
        const expected = rankAll(many.vals, query, viewer?.id)
        const found: string[] = []
        // Every page for one that sees hidden vals and for one that does not.
        for (let offset = 0; viewer !== many.bob; offset += 100) {
          const response = await suite.call(
            "GET",
            `/v1/search/vals?query=${encodeURIComponent(query)}&limit=100&offset=${offset}`,
            {
              as: viewer,
            },
          )
          found.push(...idsOf(response))
          if (response.json.links.next === undefined) break
        }
        if (viewer !== many.bob) expect(found).toEqual([...expected])
        for (const [limit, offset] of [
          [1, 0],
          [20, 0],
          [20, 60],
          [7, 499],
          [3, 1200],
        ] as const) {
          const page = await suite.call(
            "GET",
            `/v1/search/vals?query=${encodeURIComponent(query)}&limit=${limit}&offset=${offset}`,
            {
              as: viewer,
            },
          )
          expect(idsOf(page)).toEqual(expected.slice(offset, offset + limit))
          expect(page.json.links.next !== undefined).toBe(expected.length > offset + limit)
        }
      }
    })
  }
}
