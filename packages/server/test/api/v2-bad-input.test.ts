import { describe, expect, setSystemTime, test } from "bun:test"
import { expectStatus, type TestResponse, type TestUser } from "../support/api.ts"
import { type ApiSuite, describeApi, once, refusalOf } from "./suite.ts"

interface Scene {
  readonly ada: TestUser
  /** Ada's, public, with the files of `sampleFiles`. */
  readonly valId: string
  readonly fileId: string
  /** A branch of another val of Ada. */
  readonly foreignBranchId: string
}

const sampleFiles = ["a.ts", "b.ts", "lib/db.ts", "lib/inner/x.ts"]
const contentCharsMax = 256_000

const deep = (levels: number) => Array.from({ length: levels }, () => "d").join("/")
/** A valid path of so many characters, in segments of 200. */
const long = (chars: number) =>
  Array.from({ length: chars }, (_, index) => (index % 201 === 200 ? "/" : "x")).join("")

/** No file can have these paths. */
const badPaths: Readonly<Record<string, string>> = {
  "..": "..",
  ".. before a name": "../a.ts",
  ".. between names": "lib/../a.ts",
  ".. at the end": "lib/..",
  ".": ".",
  ". before a name": "./a.ts",
  "a leading slash": "/a.ts",
  "a trailing slash": "lib/",
  "only a slash": "/",
  "two slashes": "lib//db.ts",
  "a backslash": "lib\\db.ts",
  ".. with a backslash": "..\\a.ts",
  NUL: "a.ts\0",
  "a control character": "a\u0001.ts",
  "a line break": "a\n.ts",
  DEL: "a\u007f.ts",
  "a space": "a b.ts",
  "a letter with an accent": "é.ts",
  "a letter that looks like another": "а.ts",
  "half a character": "\ud800.ts",
  "an encoded ..": "%2e%2e/a.ts",
  "a drive": "C:/a.ts",
  "a query": "a.ts?v=1",
  "a segment of 256 characters": `${"x".repeat(253)}.ts`,
  "21 levels": deep(21),
  "513 characters": long(513),
  "a megabyte": "x/".repeat(500_000).slice(0, 7_000),
}

function defineBadInput(suite: ApiSuite, isWhole: boolean): void {
  const { call } = suite
  /** What is refused before the database is used is refused on one of them. */
  const inWhole = <Item>(cases: readonly Item[]): readonly Item[] => (isWhole ? cases : [])
  const scene = once(async (): Promise<Scene> => {
    const ada = await suite.addUser()
    const valId = await addVal(ada, "folder")
    const files = await Promise.all(sampleFiles.map((path) => create(ada, valId, path)))
    const other = await addVal(ada, "other")
    return { ada, valId, fileId: files[0] ?? "", foreignBranchId: await addBranch(ada, other) }
  })

  async function addVal(as: TestUser, name: string): Promise<string> {
    const body = { name, privacy: "public" }
    return expectStatus(await call("POST", "/v2/vals", { as, body }), 201).json.id
  }
  async function addBranch(as: TestUser, valId: string, name = "try"): Promise<string> {
    const added = await call("POST", `/v2/vals/${valId}/branches`, { as, body: { name } })
    return expectStatus(added, 201).json.id
  }
  const filesOf = (valId: string, query: Readonly<Record<string, string>>) =>
    `/v2/vals/${valId}/files?${new URLSearchParams(query)}`
  const post = (as: TestUser, valId: string, path: string, body: unknown) =>
    call("POST", filesOf(valId, { path }), { as, body })
  const put = (as: TestUser, valId: string, path: string, body: unknown) =>
    call("PUT", filesOf(valId, { path }), { as, body })
  const save = (as: TestUser, valId: string, ...changes: readonly object[]) =>
    call("POST", `/v1/vals/${valId}/files`, { as, body: { changes } })
  const remove = (as: TestUser, valId: string, path: string, recursive = "false") =>
    call("DELETE", filesOf(valId, { path, recursive }), { as })
  async function create(as: TestUser, valId: string, path: string): Promise<string> {
    return expectStatus(await post(as, valId, path, { type: "script", content: "1" }), 201).json.id
  }
  const listAll = async (valId: string, query: Readonly<Record<string, string>> = {}) => {
    const list = filesOf(valId, { path: "", recursive: "true", limit: "100", ...query })
    const { ada } = await scene()
    return expectStatus(await call("GET", list, { as: ada }), 200).json.data
  }
  const versionOf = async (as: TestUser, valId: string): Promise<number> => {
    const { data } = expectStatus(await call("GET", `/v2/vals/${valId}/branches`, { as }), 200).json
    return data.find((branch: { name: string }) => branch.name === "main").version
  }

  /** The requests are refused so, each in a sentence, and the val stays as it is. */
  async function expectRefused(
    status: number | readonly number[],
    ...requests: ((scene: Scene) => Promise<TestResponse>)[]
  ): Promise<void> {
    const { ada, valId } = await scene()
    const before = [await versionOf(ada, valId), await listAll(valId)]
    for (const request of requests) {
      const answer = await request(await scene())
      if (![status].flat().includes(answer.status))
        expect(`${request}: ${answer.status} ${answer.text}`).toBe(`${status}`)
      expect(answer.json?.message).toMatch(/^Cannot .+/)
      if (answer.status === 409) expect(answer.headers.get("x-should-retry")).toBe("false")
    }
    expect([await versionOf(ada, valId), await listAll(valId)]).toEqual(before)
  }

  describe("five writers at once", () => {
    const writers = [0, 1, 2, 3, 4]

    test("on different files: every write has its own version, without a gap", async () => {
      const ada = await suite.addUser()
      const valId = await addVal(ada, "writers")
      const versions = await Promise.all(
        writers.map(async (writer) => {
          const seen: number[] = []
          for (let step = 0; step < 6; step += 1) {
            const path = `w${writer}/deep/f${step}.ts`
            const made = await post(ada, valId, path, { type: "script", content: "1" })
            seen.push(expectStatus(made, 201).json.version)
            const changed = await put(ada, valId, path, { content: "2", name: `f${step}.ts` })
            seen.push(expectStatus(changed, 200).json.version)
          }
          return seen
        }),
      )
      const all = versions.flat().sort((one, other) => one - other)
      expect(all).toEqual(Array.from({ length: 60 }, (_, index) => index + 1))
      expect(await versionOf(ada, valId)).toBe(60)
    })

    test("on one file: every text was its content, and the last one is", async () => {
      const ada = await suite.addUser()
      const valId = await addVal(ada, "same_file")
      await create(ada, valId, "a.ts")
      await Promise.all(
        writers.map(async (writer) => {
          for (let step = 0; step < 6; step += 1)
            expectStatus(await put(ada, valId, "a.ts", { content: `${writer} ${step}` }), 200)
        }),
      )
      expect(await versionOf(ada, valId)).toBe(31)
      const texts = await Promise.all(
        Array.from({ length: 30 }, async (_, index) => {
          const path = `/v2/vals/${valId}/files/content?path=a.ts&version=${index + 2}`
          return (await call("GET", path, { as: ada })).text
        }),
      )
      const written = writers.flatMap((writer) =>
        [0, 1, 2, 3, 4, 5].map((step) => `${writer} ${step}`),
      )
      expect([...texts].sort()).toEqual(written.sort())
    })

    test("of which one gets the path: the others are told that it exists", async () => {
      const ada = await suite.addUser()
      const valId = await addVal(ada, "race")
      const file = { type: "script", content: "1" }
      const answers = await Promise.all(
        ["a.ts", "A.ts", "a.ts", "a.ts/b.ts", "A.TS"].map((path) => post(ada, valId, path, file)),
      )
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409])
      expect(await versionOf(ada, valId)).toBe(1)
    })

    test("that create, move, delete and branch, also through /v1", async () => {
      const ada = await suite.addUser()
      const valId = await addVal(ada, "mixed")
      await create(ada, valId, "main.tsx")
      const works: ((step: number) => Promise<TestResponse>)[] = [
        (step) => post(ada, valId, `made/f${step}.ts`, { type: "script", content: "1" }),
        async (step) => {
          expectStatus(await post(ada, valId, `m${step}`, { type: "file", content: "1" }), 201)
          return put(ada, valId, `m${step}`, { parent_path: `to/${step}`, name: "moved" })
        },
        async (step) => {
          await create(ada, valId, `gone/${step}/f.ts`)
          return remove(ada, valId, `gone/${step}`, "true")
        },
        (step) =>
          call("POST", `/v1/vals/${valId}/versions`, { as: ada, body: { code: `// ${step}` } }),
        (step) =>
          call("POST", `/v2/vals/${valId}/branches`, { as: ada, body: { name: `b${step}` } }),
      ]
      await Promise.all(
        works.map(async (work) => {
          for (let step = 0; step < 5; step += 1)
            expect([200, 201, 204]).toContain((await work(step)).status)
        }),
      )
      expect(await versionOf(ada, valId)).toBe(1 + 5 + 10 + 10 + 5)
      const paths = (await listAll(valId)).map(({ path }: { path: string }) => path)
      expect(paths).toContain("to/4/moved")
      expect(paths).toContain("gone")
      expect(paths).not.toContain("gone/0")
    })
  })

  describe("a body", () => {
    const bodies: Readonly<Record<string, unknown>> = {
      "that is no JSON": "{",
      "that is empty": "",
      "that is a list": [],
      "that is null": "null",
      "without a type": { content: "1" },
      "without content": { type: "script" },
      "with an unknown type": { type: "cron", content: "1" },
      "with a type of another case": { type: "Script", content: "1" },
      "with content that is a number": { type: "script", content: 1 },
      "with content that is null": { type: "script", content: null },
      "of a directory with content": { type: "directory", content: "1" },
      "with content that is too long": { type: "file", content: "x".repeat(contentCharsMax + 1) },
    }
    for (const [title, body] of inWhole(Object.entries(bodies)))
      test(`${title} creates nothing`, () =>
        expectRefused([400, 413, 415], ({ ada, valId }) => post(ada, valId, "new.ts", body)))

    const changes: Readonly<Record<string, unknown>> = {
      "with the type directory": { type: "directory" },
      "with content that is null": { content: null },
      "with an empty name": { name: "" },
      "with a name that is null": { name: null },
      "with a slash in the name": { name: "lib/c.ts" },
      "with a parent that is a number": { parent_path: 1 },
      "with content that is too long": { content: "x".repeat(contentCharsMax + 1) },
    }
    for (const [title, body] of inWhole(Object.entries(changes)))
      test(`${title} changes nothing`, () =>
        expectRefused([400, 413], ({ ada, valId }) => put(ada, valId, "a.ts", body)))

    for (const [title, content] of [
      ["NUL", "a\0b"],
      ["half a character", "a\ud800b"],
      ["the other half", "a\udc00b"],
    ] as const)
      test(`whose content has ${title} is refused as no text`, async () => {
        const body = JSON.stringify({ type: "file", content })
        for (const path of ["new.txt", "new.ts"])
          await expectRefused(400, async ({ ada, valId }) => {
            const answer = await post(ada, valId, path, body)
            expect(refusalOf(answer)).toEqual([400, "content_not_text"])
            return answer
          })
        await expectRefused(400, async ({ ada, valId }) => {
          const answer = await put(ada, valId, "a.ts", JSON.stringify({ content }))
          expect(refusalOf(answer)).toEqual([400, "content_not_text"])
          return answer
        })
      })

    test("that is not UTF-8 is refused", async () => {
      const bytes = (text: string) => Buffer.from(text.replace("?", "\xff"), "latin1")
      const file = bytes('{"type":"file","content":"a?b"}')
      const many = bytes('{"changes":[{"path":"new.txt","content":"a?b"}]}')
      await expectRefused(
        400,
        ({ ada, valId }) => post(ada, valId, "new.txt", file),
        ({ ada, valId }) => put(ada, valId, "a.ts", file),
        ({ ada, valId }) => call("POST", `/v1/vals/${valId}/files`, { as: ada, body: many }),
        ({ ada, valId }) =>
          call("POST", `/v1/vals/${valId}/versions`, { as: ada, body: bytes('{"code":"a?b"}') }),
      )
    })

    test.each(["a\0b", "a\ud800b", "\udc00"])("%j is no text in any other save", async (text) => {
      await expectRefused(
        400,
        ({ ada, valId }) =>
          call("POST", `/v1/vals/${valId}/files`, {
            as: ada,
            body: JSON.stringify({
              changes: [
                { path: "new.txt", content: "1" },
                { path: "other.txt", content: text },
              ],
            }),
          }),
        ({ ada, valId }) =>
          call("POST", `/v1/vals/${valId}/versions`, {
            as: ada,
            body: JSON.stringify({ code: text }),
          }),
        ({ ada, valId }) =>
          call("PUT", `/v1/vals/${valId}`, { as: ada, body: JSON.stringify({ readme: text }) }),
      )
    })

    test("with the longest content, an empty one and every other control character is kept", async () => {
      const { ada } = await scene()
      const valId = await addVal(ada, "texts")
      const texts = ["", "x".repeat(contentCharsMax), "\u0001\u001f\u007f\ufeff\uffff\r\n\u2028😀"]
      for (const [index, content] of texts.entries()) {
        const path = `f${index}.txt`
        expectStatus(await post(ada, valId, path, { type: "file", content }), 201)
        const read = `/v2/vals/${valId}/files/content?path=${path}`
        const { text } = expectStatus(await call("GET", read, { as: ada }), 200)
        expect(text === content.replace(/^\ufeff/, "")).toBe(true)
      }
    })

    test("with other content gives the file a later time, even in the same millisecond", async () => {
      const { ada } = await scene()
      const valId = await addVal(ada, "same_millisecond")
      const now = Date.now()
      try {
        setSystemTime(new Date(now))
        await create(ada, valId, "a.ts")
        const times: string[] = []
        for (const at of [now, now, now - 60_000]) {
          setSystemTime(new Date(at))
          const changed = await put(ada, valId, "a.ts", { content: `${times.length}` })
          times.push(expectStatus(changed, 200).json.updatedAt)
          const saved = await call("POST", `/v1/vals/${valId}/versions`, {
            as: ada,
            body: { code: `${times.length} through v1` },
          })
          expectStatus(saved, 201)
          const [file] = await listAll(valId)
          expect(file.updatedAt).toBe(saved.json.versionCreatedAt)
          times.push(file.updatedAt)
        }
        expect(times.toSorted()).toEqual(times)
        expect(new Set(times).size).toBe(6)
      } finally {
        setSystemTime()
      }
    })

    test("with keys that are none of ours is read without them", async () => {
      const { ada } = await scene()
      const valId = await addVal(ada, "unknown_keys")
      const body = '{"type":"file","content":"1","__proto__":{"type":"http"},"constructor":1,"a":2}'
      expect(expectStatus(await post(ada, valId, "a.txt", body), 201).json.type).toBe("file")
    })

    test("that is a broken deno.json is saved", async () => {
      const { ada } = await scene()
      const valId = await addVal(ada, "broken_deno_json")
      for (const content of ["{", "[]", '{"imports": 1}', '{"imports": {"a": {}}}', "null"]) {
        const body = { type: "file", content }
        const saved = await (content === "{"
          ? post(ada, valId, "deno.json", body)
          : put(ada, valId, "deno.json", body))
        expect([content, saved.status]).toEqual([content, content === "{" ? 201 : 200])
      }
      await create(ada, valId, "main.ts")
    })
  })

  // The rest is decided by code, with statements that other suites of files try on both.
  if (!isWhole) return

  describe("a path with", () => {
    for (const [title, path] of Object.entries(badPaths))
      test(`${title} is refused by every route`, async () => {
        const file = { type: "script", content: "1" }
        const good = { path: "new.ts", content: "1" }
        await expectRefused(
          400,
          ({ ada, valId }) => post(ada, valId, path, file),
          ({ ada, valId }) => post(ada, valId, path, { type: "directory" }),
          ({ ada, valId }) => put(ada, valId, path, { content: "2" }),
          ({ ada, valId }) => put(ada, valId, "a.ts", { parent_path: path }),
          ({ ada, valId }) => put(ada, valId, "a.ts", { name: path }),
          ({ ada, valId }) => save(ada, valId, good, { path, content: "1" }),
          ({ ada, valId }) => save(ada, valId, good, { path: "a.ts", newPath: path }),
          ({ ada, valId }) => save(ada, valId, good, { path, newPath: "new/a.ts" }),
          ({ ada, valId }) => save(ada, valId, good, { path, delete: true }),
          ({ ada, valId }) => remove(ada, valId, path, "true"),
          ({ ada, valId }) => call("GET", filesOf(valId, { path, recursive: "true" }), { as: ada }),
          ({ ada, valId }) =>
            call("GET", `/v2/vals/${valId}/files/content?${new URLSearchParams({ path })}`, {
              as: ada,
            }),
        )
      })

    test("255 characters in a segment, 20 levels or 512 characters is accepted", async () => {
      const { ada } = await scene()
      const valId = await addVal(ada, "long_paths")
      for (const path of ["y".repeat(255), deep(20), long(512)]) {
        await create(ada, valId, path)
        const content = `/v2/vals/${valId}/files/content?${new URLSearchParams({ path })}`
        expect((await call("GET", content, { as: ada })).text).toBe("1")
      }
    })

    test("bytes that are not UTF-8 is refused", async () => {
      await expectRefused(400, ({ ada, valId }) =>
        call("GET", `/v2/vals/${valId}/files?path=%ff%fe`, { as: ada }),
      )
    })
  })

  describe("a query", () => {
    for (const query of [
      "",
      "path=&recursive=maybe",
      "path=&version=-1",
      "path=&version=1.5",
      "path=&version=one",
      "path=&version=",
      "path=&version=1e30",
      "path=&branch_id=main",
      "path=&branch_id=",
      "path=&branch_id=undefined",
      "path=&limit=0",
      "path=&limit=101",
      "path=&offset=-1",
      "path=&offset=x",
    ])
      test(`"${query}" is refused`, () =>
        expectRefused(400, ({ ada, valId }) =>
          call("GET", `/v2/vals/${valId}/files?${query}`, { as: ada }),
        ))

    test("version far above the newest means the newest version", async () => {
      const { ada, valId } = await scene()
      const version = "2147483647"
      expect(await listAll(valId, { version })).toEqual(await listAll(valId))
      const content = `/v2/vals/${valId}/files/content?path=a.ts&version=${version}`
      expect((await call("GET", content, { as: ada })).text).toBe("1")
    })

    test("version that does not exist is not found by any other route", async () => {
      const { ada } = await scene()
      const valId = await addVal(ada, "few_versions")
      for (const path of ["main.ts", "b.ts"]) await create(ada, valId, path)
      expectStatus(await call("DELETE", `/v1/vals/${valId}/versions/1`, { as: ada }), 204)
      const module = `/v/${ada.username}/few_versions`
      for (const path of [
        ...["1", "9", "2147483648", "999999999999"].map(
          (one) => `/v1/vals/${valId}/versions/${one}`,
        ),
        ...["1-main", "9-main", "9", "none", "2-none"].map((pin) => `${module}@${pin}/main.ts`),
        `/v1/vals/${valId}/branches/${valId}/diff?version=1`,
      ]) {
        const answer = await call("GET", path, { as: ada })
        expect([path, answer.status]).toEqual([path, 404])
        expect(answer.json.message).toMatch(/^Cannot .+/)
      }
      const missing = await call("DELETE", `/v1/vals/${valId}/versions/1`, { as: ada })
      expect(refusalOf(missing)).toEqual([404, "version_not_found"])
    })

    test("offset far behind the end gives an empty page", async () => {
      const { valId } = await scene()
      expect(await listAll(valId, { offset: "1000000" })).toEqual([])
    })

    test("version of which the row was deleted is not found", async () => {
      const { ada } = await scene()
      const valId = await addVal(ada, "deleted_version")
      for (const path of ["a.ts", "b.ts", "c.ts"]) await create(ada, valId, path)
      expectStatus(await call("DELETE", `/v1/vals/${valId}/versions/2`, { as: ada }), 204)
      const list = filesOf(valId, { path: "", version: "2" })
      expect((await call("GET", list, { as: ada })).status).toBe(404)
      const content = `/v2/vals/${valId}/files/content?path=a.ts&version=2`
      expect((await call("GET", content, { as: ada })).status).toBe(404)
      const { data } = (await call("GET", filesOf(valId, { path: "", version: "1" }), { as: ada }))
        .json
      expect(data.map(({ path }: { path: string }) => path)).toEqual(["a.ts"])
    })
  })

  describe("a file where a folder is, and the reverse", () => {
    const file = { type: "script", content: "1" }
    const requests: Readonly<Record<string, (scene: Scene) => Promise<TestResponse>>> = {
      "a file at the path of a file": ({ ada, valId }) => post(ada, valId, "a.ts", file),
      "a file at the path of a folder": ({ ada, valId }) => post(ada, valId, "lib", file),
      "a folder at the path of a file": ({ ada, valId }) =>
        post(ada, valId, "a.ts", { type: "directory" }),
      "a folder at the path of a folder": ({ ada, valId }) =>
        post(ada, valId, "lib", { type: "directory" }),
      "a file in a file": ({ ada, valId }) => post(ada, valId, "a.ts/b.ts", file),
      "a file deep in a file": ({ ada, valId }) => post(ada, valId, "a.ts/b/c.ts", file),
      "a name that is taken": ({ ada, valId }) => put(ada, valId, "a.ts", { name: "b.ts" }),
      "a name that a folder has": ({ ada, valId }) => put(ada, valId, "a.ts", { name: "lib" }),
      "a name of a folder that a file has": ({ ada, valId }) =>
        put(ada, valId, "lib", { name: "a.ts" }),
      "a parent that is a file": ({ ada, valId }) =>
        put(ada, valId, "a.ts", { parent_path: "b.ts" }),
      "a parent that has such a file": ({ ada, valId }) =>
        put(ada, valId, "a.ts", { parent_path: "lib", name: "db.ts" }),
      "a path that differs only in case": ({ ada, valId }) => post(ada, valId, "A.TS", file),
      "a folder that differs only in case": ({ ada, valId }) =>
        post(ada, valId, "LIB/new.ts", file),
      "a name that differs only in case from another": ({ ada, valId }) =>
        put(ada, valId, "a.ts", { name: "B.ts" }),
      "a parent that differs only in case from another": ({ ada, valId }) =>
        put(ada, valId, "a.ts", { parent_path: "Lib" }),
    }
    for (const [title, request] of Object.entries(requests))
      test(`${title} is a conflict`, () => expectRefused(409, request))

    test.each([
      ["itself", { parent_path: "lib" }],
      ["a folder in it", { parent_path: "lib/inner" }],
      ["a folder in it that does not exist", { parent_path: "lib/new/folder" }],
    ])("a folder is not moved into %s", (_, body) =>
      expectRefused([400, 409], ({ ada, valId }) => put(ada, valId, "lib", body)),
    )

    test.each([
      ["a file at the path of a folder", { path: "lib", content: "1" }, 409],
      ["a folder at the path of a file", { path: "a.ts", type: "directory", content: null }, 409],
      ["a file in a file", { path: "a.ts/b.ts", content: "1" }, 409],
      ["a path that differs only in case", { path: "LIB/DB.ts", content: "1" }, 409],
      ["a move that differs only in case from another", { path: "b.ts", newPath: "A.ts" }, 409],
      ["a move to a path that is taken", { path: "lib", newPath: "a.ts" }, 409],
      ["a folder into itself", { path: "lib", newPath: "lib/inner/lib" }, 409],
      ["a path at which there is nothing", { path: "none", newPath: "more" }, 404],
      ["a change of the root", { path: "", newPath: "more" }, 400],
    ])("a save of many files refuses all if one is %s", (_, change, status) =>
      expectRefused(status, ({ ada, valId }) =>
        save(ada, valId, { path: "new.ts", content: "1" }, change),
      ),
    )

    test("a folder has no content and no type to change, and no bytes to read", async () => {
      await expectRefused([400, 409], ({ ada, valId }) => put(ada, valId, "lib", { content: "1" }))
      await expectRefused([400, 409], ({ ada, valId }) => put(ada, valId, "lib", { type: "http" }))
      await expectRefused(404, ({ ada, valId }) =>
        call("GET", `/v2/vals/${valId}/files/content?path=lib`, { as: ada }),
      )
      await expectRefused(404, ({ ada, valId }) =>
        call("GET", `/v2/vals/${valId}/files/content?path=`, { as: ada }),
      )
    })

    test("the root is no file: it is not created, changed or moved", async () => {
      await expectRefused([400, 409], ({ ada, valId }) => post(ada, valId, "", file))
      await expectRefused([400, 409], ({ ada, valId }) =>
        post(ada, valId, "", { type: "directory" }),
      )
      await expectRefused([400, 404, 409], ({ ada, valId }) => put(ada, valId, "", { name: "x" }))
      await expectRefused(409, ({ ada, valId }) => remove(ada, valId, ""))
    })

    test("a file may change the case of its own name, and a folder too", async () => {
      const { ada } = await scene()
      const valId = await addVal(ada, "own_case")
      await create(ada, valId, "lib/readme.md")
      expectStatus(await put(ada, valId, "lib/readme.md", { name: "README.md" }), 200)
      expectStatus(await put(ada, valId, "lib", { name: "Lib" }), 200)
      const files = await listAll(valId)
      expect(files.map(({ path }: { path: string }) => path)).toEqual(["Lib", "Lib/README.md"])
    })

    test("a folder is not moved where a path in it would be too deep or too long", async () => {
      const { ada } = await scene()
      const valId = await addVal(ada, "too_deep")
      await create(ada, valId, deep(20))
      await create(ada, valId, `long/${long(500)}`)
      expect((await put(ada, valId, "d", { parent_path: "e" })).status).toBe(400)
      expect((await put(ada, valId, "long", { name: "x".repeat(80) })).status).toBe(400)
      expect(await versionOf(ada, valId)).toBe(2)
    })

    test("a path is free again when its file was moved or deleted", async () => {
      const { ada } = await scene()
      const valId = await addVal(ada, "free_again")
      await create(ada, valId, "a")
      expectStatus(await put(ada, valId, "a", { name: "b" }), 200)
      await create(ada, valId, "a/c")
      expectStatus(await remove(ada, valId, "a", "true"), 204)
      await create(ada, valId, "A")
      const files = await listAll(valId)
      expect(files.map(({ path }: { path: string }) => path)).toEqual(["A", "b"])
    })
  })

  describe("what does not exist", () => {
    test("is not changed, deleted or read", async () => {
      await expectRefused(
        404,
        ({ ada, valId }) => put(ada, valId, "none.ts", {}),
        ({ ada, valId }) => put(ada, valId, "none/a.ts", { content: "1" }),
        ({ ada, valId }) => put(ada, valId, "A.ts", { content: "1" }),
        ({ ada, valId }) => remove(ada, valId, "none.ts"),
        ({ ada, valId }) => remove(ada, valId, "A.ts", "true"),
        ({ ada, valId }) => call("GET", filesOf(valId, { path: "none" }), { as: ada }),
        ({ ada, valId }) =>
          call("GET", `/v2/vals/${valId}/files/content?path=none.ts`, { as: ada }),
      )
    })

    test("a path that was deleted is deleted again without a version", async () => {
      const { ada } = await scene()
      const valId = await addVal(ada, "deleted_twice")
      await create(ada, valId, "lib/a.ts")
      expectStatus(await remove(ada, valId, "lib", "true"), 204)
      const version = await versionOf(ada, valId)
      expectStatus(await remove(ada, valId, "lib", "true"), 204)
      expectStatus(await remove(ada, valId, "lib/a.ts", "true"), 204)
      expect(await versionOf(ada, valId)).toBe(version)
      expectStatus(await remove(ada, valId, "lib/never.ts", "true"), 404)
    })

    test("a folder with contents is deleted only recursively", () =>
      expectRefused(409, async ({ ada, valId }) => {
        const answer = await remove(ada, valId, "lib")
        expect(refusalOf(answer)).toEqual([409, "directory_not_empty"])
        return answer
      }))
  })

  describe("/v1 and files", () => {
    test("a folder at the path of the readme or the code is a conflict there", async () => {
      const { ada } = await scene()
      const valId = await addVal(ada, "folders_only")
      for (const path of ["README.md", "main.tsx"])
        expectStatus(await post(ada, valId, path, { type: "directory" }), 201)
      const readme = await call("PUT", `/v1/vals/${valId}`, { as: ada, body: { readme: "x" } })
      expect(readme.status).toBe(409)
      const code = await call("POST", `/v1/vals/${valId}/versions`, {
        as: ada,
        body: { code: "1" },
      })
      expect(code.status).toBe(409)
      expect(await versionOf(ada, valId)).toBe(2)
    })

    test("a readme is never the code, also if it is of a type that runs", async () => {
      const { ada } = await scene()
      const valId = await addVal(ada, "running_readme")
      expectStatus(await post(ada, valId, "README.md", { type: "http", content: "1" }), 201)
      const body = { name: "running_readme", code: "2", readme: "3", type: "http" }
      const saved = expectStatus(await call("PUT", "/v1/vals", { as: ada, body }), 200).json
      expect(saved).toMatchObject({ version: 2, code: "2", readme: "3", type: "http" })
      expect(await listAll(valId)).toMatchObject([
        { path: "README.md", type: "file" },
        { path: "main.tsx", type: "http" },
      ])
    })

    test("a readme that differs in case is a conflict there", async () => {
      const { ada } = await scene()
      const valId = await addVal(ada, "small_readme")
      await create(ada, valId, "readme.md")
      const readme = await call("PUT", `/v1/vals/${valId}`, { as: ada, body: { readme: "x" } })
      expect(readme.status).toBe(409)
    })

    test("a deleted version gives files back where they were, with their ids", async () => {
      const { ada } = await scene()
      const valId = await addVal(ada, "taken_back")
      const id = await create(ada, valId, "a.ts")
      expectStatus(await put(ada, valId, "a.ts", { name: "b.ts", parent_path: "lib" }), 200)
      expectStatus(await call("DELETE", `/v1/vals/${valId}/versions/2`, { as: ada }), 204)
      expect(await listAll(valId)).toMatchObject([{ id, path: "a.ts" }])
      const found = await call("GET", `/v2/files/${id}`, { as: ada })
      expect(expectStatus(found, 200).json).toMatchObject({ id, path: "a.ts", version: 1 })
      const next = await create(ada, valId, "b.ts")
      expect(next).not.toBe(id)
      expect(await versionOf(ada, valId)).toBe(3)
      expectStatus(await remove(ada, valId, "a.ts"), 204)
      expectStatus(await call("DELETE", `/v1/vals/${valId}/versions/4`, { as: ada }), 204)
      expectStatus(await call("GET", `/v2/files/${id}`, { as: ada }), 200)
    })
  })

  describe("a branch of another val", () => {
    test("is not found by any route", async () => {
      const on = (query: Record<string, string>, { valId, foreignBranchId }: Scene) =>
        filesOf(valId, { ...query, branch_id: foreignBranchId })
      const file = { type: "script", content: "1" }
      const requests: ((scene: Scene) => Promise<TestResponse>)[] = [
        (it) => call("GET", on({ path: "" }, it), { as: it.ada }),
        (it) => call("POST", on({ path: "new.ts" }, it), { as: it.ada, body: file }),
        (it) => call("PUT", on({ path: "a.ts" }, it), { as: it.ada, body: { content: "2" } }),
        (it) => call("DELETE", on({ path: "a.ts" }, it), { as: it.ada }),
        (it) =>
          call(
            "GET",
            `/v2/vals/${it.valId}/files/content?path=a.ts&branch_id=${it.foreignBranchId}`,
            { as: it.ada },
          ),
        (it) => call("GET", `/v2/vals/${it.valId}/branches/${it.foreignBranchId}`, { as: it.ada }),
        (it) =>
          call("DELETE", `/v2/vals/${it.valId}/branches/${it.foreignBranchId}`, { as: it.ada }),
        (it) =>
          call("POST", `/v2/vals/${it.valId}/branches`, {
            as: it.ada,
            body: { name: "new", branchId: it.foreignBranchId },
          }),
      ]
      for (const request of requests)
        await expectRefused(404, async (it) => {
          const answer = await request(it)
          expect(refusalOf(answer)).toEqual([404, "branch_not_found"])
          return answer
        })
    })

    test("is nowhere after it was deleted", async () => {
      const { ada } = await scene()
      const valId = await addVal(ada, "gone_branch")
      await create(ada, valId, "a.ts")
      const branch_id = await addBranch(ada, valId)
      const [file] = await listAll(valId, { branch_id })
      const childBody = { name: "child", branchId: branch_id }
      const child = expectStatus(
        await call("POST", `/v2/vals/${valId}/branches`, { as: ada, body: childBody }),
        201,
      ).json
      expectStatus(
        await call("DELETE", `/v2/vals/${valId}/branches/${branch_id}`, { as: ada }),
        204,
      )
      const list = filesOf(valId, { path: "", branch_id })
      expect((await call("GET", list, { as: ada })).status).toBe(404)
      expect((await call("GET", `/v2/files/${file.id}`, { as: ada })).status).toBe(404)
      const kept = await call("GET", `/v2/vals/${valId}/branches/${child.id}`, { as: ada })
      expect(kept.json).toMatchObject({ name: "child", forkedBranchId: null })
      expect(await listAll(valId, { branch_id: child.id })).toHaveLength(1)
      await addBranch(ada, valId)
    })
  })

  describe("names", () => {
    test.each(["", "1a", "-a", "_a", "a b", "a.b", "a/b", "é", "a".repeat(49), "a\0"])(
      "a val cannot be called %p",
      async (name) => {
        const { ada } = await scene()
        const body = { name, privacy: "private" }
        expect((await call("POST", "/v2/vals", { as: ada, body })).status).toBe(400)
      },
    )

    test("a val needs a privacy, a short description and an owner that exists", async () => {
      const { ada } = await scene()
      const add = (fields: object) =>
        call("POST", "/v2/vals", {
          as: ada,
          body: { name: "checked", privacy: "private", ...fields },
        })
      expect((await add({ privacy: undefined })).status).toBe(400)
      expect((await add({ privacy: "secret" })).status).toBe(400)
      expect((await add({ description: "x".repeat(65) })).status).toBe(400)
      expect((await add({ orgId: "acme" })).status).toBe(400)
      expect(refusalOf(await add({ orgId: crypto.randomUUID() }))).toEqual([404, "org_not_found"])
      expect(
        expectStatus(await add({ orgId: ada.id, description: "" }), 201).json.description,
      ).toBeNull()
    })

    test("a-b and a_b of one user are the same name", async () => {
      const ada = await suite.addUser()
      await addVal(ada, "a-b")
      for (const name of ["a_b", "A-B", "a-b"]) {
        const answer = await call("POST", "/v2/vals", {
          as: ada,
          body: { name, privacy: "private" },
        })
        expect(refusalOf(answer)).toEqual([409, "name_taken"])
        expect(answer.headers.get("x-should-retry")).toBe("false")
      }
    })

    test.each(["", "a/b", "a b", "é", "x".repeat(49), "a\0", ".", ".."])(
      "a branch cannot be called %p",
      (name) =>
        expectRefused(400, ({ ada, valId }) =>
          call("POST", `/v2/vals/${valId}/branches`, { as: ada, body: { name } }),
        ),
    )

    test("main is neither made again nor deleted", async () => {
      await expectRefused(409, ({ ada, valId }) =>
        call("POST", `/v2/vals/${valId}/branches`, { as: ada, body: { name: "main" } }),
      )
      await expectRefused(409, async ({ ada, valId }) => {
        const answer = await call("DELETE", `/v2/vals/${valId}/branches/${valId}`, { as: ada })
        expect(refusalOf(answer)).toEqual([409, "branch_is_default"])
        return answer
      })
    })
  })

  describe("limits", () => {
    test("a val has at most 100 branches", async () => {
      const { ada } = await scene()
      const valId = await addVal(ada, "branches")
      for (let index = 1; index < 100; index += 1) await addBranch(ada, valId, `b${index}`)
      const answer = await call("POST", `/v2/vals/${valId}/branches`, {
        as: ada,
        body: { name: "b100" },
      })
      expect(refusalOf(answer)).toEqual([409, "val_full"])
      expect(answer.headers.get("x-should-retry")).toBe("false")
    })

    test("a version has at most 1,000 files", async () => {
      const { ada } = await scene()
      const valId = await addVal(ada, "files")
      const changes = Array.from({ length: 1_000 }, (_, index) => ({
        path: `f${index}.txt`,
        type: "file",
        content: "1",
      }))
      const saved = await call("POST", `/v1/vals/${valId}/files`, { as: ada, body: { changes } })
      expect(expectStatus(saved, 200).json.version).toBe(1)
      const file = { type: "file", content: "1" }
      expect(refusalOf(await post(ada, valId, "f1000.txt", file))).toEqual([409, "val_full"])
      const [one] = changes
      const more = Array.from({ length: 2 }, (_, index) => ({ ...one, path: `more${index}.txt` }))
      const drop = { path: "f0.txt", delete: true }
      expect(refusalOf(await save(ada, valId, ...more, drop))).toEqual([409, "val_full"])
      expect((await save(ada, valId, ...changes, { ...one, path: "f.txt" })).status).toBe(400)
      expect(await versionOf(ada, valId)).toBe(1)
      expectStatus(await put(ada, valId, "f1.txt", { content: "2" }), 200)
      expectStatus(await remove(ada, valId, "f1.txt"), 204)
      expectStatus(await post(ada, valId, "f1000.txt", file), 201)
    })

    test("a version has at most 10 MB of text", async () => {
      const { ada } = await scene()
      const valId = await addVal(ada, "bytes")
      const file = { type: "file", content: "é".repeat(contentCharsMax / 2) }
      const statuses: number[] = []
      for (let index = 0; index < 41 && statuses.at(-1) !== 409; index += 1)
        statuses.push((await post(ada, valId, `f${index}.txt`, file)).status)
      expect(statuses.at(-1)).toBe(409)
      expect(statuses).toHaveLength(40)
    })
  })
}

describeApi("v2: bad input", defineBadInput)
