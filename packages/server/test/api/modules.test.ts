import { describe, expect, test } from "bun:test"
import { expectStatus, type TestUser, testBaseUrl } from "../support/api.ts"
import { type ApiSuite, describeSqliteApi, refusalOf } from "./suite.ts"

const browser = { "user-agent": "Mozilla/5.0 (X11; Linux x86_64)" }
const runtime = { "user-agent": "Deno/2.9.5" }
const typescript = "export const twice = (x: number): number => x * 2\n"

describeSqliteApi("api/modules", (suite) => {
  const { call, addUser: person, val } = suite

  describe("GET /v/{username}/{val_name}", () => {
    test("is the unchanged TypeScript for Deno and Bun", async () => {
      const ada = await person()
      const { name } = await val(ada, { code: typescript })
      for (const headers of [runtime, { "user-agent": "Bun/1.4.4" }]) {
        const response = expectStatus(
          await call("GET", `/v/${ada.username}/${name}`, { headers }),
          200,
        )
        expect(response.text).toBe(typescript)
        expect(response.headers.get("content-type")).toBe("text/tsx; charset=utf-8")
      }
    })

    test("is JavaScript without types for a browser, Node and a client that does not say what it is", async () => {
      const ada = await person()
      const { name } = await val(ada, { code: `${typescript}export const p = <p>{twice(1)}</p>` })
      const asksForIt = { ...runtime, accept: "text/javascript" }
      for (const headers of [browser, { "user-agent": "node" }, {}, asksForIt]) {
        const response = expectStatus(
          await call("GET", `/v/${ada.username}/${name}`, { headers }),
          200,
        )
        expect(response.headers.get("content-type")).toBe("text/javascript; charset=utf-8")
        expect(response.text).toContain("twice")
        expect(response.text).not.toContain("number")
        expect(response.text).not.toContain("<p>")
      }
    })

    test("is TypeScript for a browser that accepts that type, as the editor does", async () => {
      const ada = await person()
      const { name } = await val(ada, { code: typescript })
      const response = expectStatus(
        await call("GET", `/v/${ada.username}/${name}`, {
          headers: { ...browser, accept: "text/tsx" },
        }),
        200,
      )
      expect(response.text).toBe(typescript)
      expect(response.headers.get("content-type")).toBe("text/tsx; charset=utf-8")
    })

    test("is 422 for a browser when the code does not parse, and 200 for a runtime", async () => {
      const ada = await person()
      const { name } = await val(ada, { code: "export default {{{" })
      const response = await call("GET", `/v/${ada.username}/${name}`, { headers: browser })
      expect(refusalOf(response)).toEqual([422, "module_not_parsable"])
      expect(
        expectStatus(await call("GET", `/v/${ada.username}/${name}`, { headers: runtime }), 200)
          .text,
      ).toBe("export default {{{")
    })

    test("ignores case, and accepts an @ before the username", async () => {
      const ada = await person()
      await val(ada, { name: "MyVal", code: typescript })
      for (const path of [
        `${ada.username}/myval`,
        `@${ada.username}/MyVal`,
        `${ada.username.toUpperCase()}/MYVAL/`,
        `%40${ada.username}/MyVal`,
      ]) {
        const response = await call("GET", `/v/${path}`, { headers: runtime })
        expect(expectStatus(response, 200).text).toBe(typescript)
      }
    })

    test("is sent so that a browser neither runs it as a page nor sniffs its type", async () => {
      const ada = await person()
      const { name } = await val(ada, { code: "<script>alert(1)</script>" })
      const { headers } = await call("GET", `/v/${ada.username}/${name}`)
      expect(headers.get("content-security-policy")).toBe("default-src 'none'; sandbox")
      expect(headers.get("x-content-type-options")).toBe("nosniff")
      expect(headers.get("access-control-allow-origin")).toBe("*")
    })

    test("is 404 for an unknown user or val", async () => {
      const ada = await person()
      for (const path of [`${ada.username}/nothing`, "nobody/nothing", `${ada.username}/a-b`]) {
        expect(refusalOf(await call("GET", `/v/${path}`))).toEqual([404, "val_not_found"])
      }
    })
  })

  describe("…/{path}", () => {
    /** A val of ada's at version 2, with a branch Draft at version 1. */
    const withFiles = async (fields: object = {}) => {
      const ada = await person()
      const { id, name } = await val(ada, { code: "1", ...fields })
      const post = async (path: string, body: object) =>
        (await call("POST", path, { as: ada, body })).json
      const save = (files: Readonly<Record<string, string>>, query = "") =>
        post(`/v1/vals/${id}/files${query}`, {
          changes: Object.entries(files).map(([path, content]) => ({ path, content })),
        })
      await save({
        "lib/db.ts": typescript,
        "page.tsx": "<p>1</p>",
        "data.json": '{"a":1}',
        "index.html": "<script>alert(1)</script>",
      })
      const branch = await post(`/v2/vals/${id}/branches`, { name: "Draft" })
      await save({ "lib/db.ts": "draft" }, `?branch_id=${branch.id}`)
      return { ada, id, base: `/v/${ada.username}/${name}`, save }
    }
    const get = (path: string, headers: Readonly<Record<string, string>> = runtime) =>
      call("GET", path, { headers })

    test("redirects to the newest version of main or of the branch", async () => {
      const { base, save } = await withFiles()
      const locations = [
        [`${base}/lib/db.ts`, `${base}@2-main/lib/db.ts`],
        [`${base}@Main/lib/db.ts`, `${base}@2-main/lib/db.ts`],
        [`${base}@draft/lib/db.ts`, `${base}@1-Draft/lib/db.ts`],
        [`${base}@draft`, `${base}@1-Draft/main.tsx`],
      ] as const
      for (const [path, location] of locations) {
        const { headers } = expectStatus(await get(path), 302)
        expect(headers.get("location")).toBe(`${testBaseUrl}${location}`)
        expect(headers.get("cache-control")).toBe("public, no-cache")
      }
      await save({ "lib/db.ts": "newer" })
      const { headers } = expectStatus(await get(`${base}/lib/db.ts`), 302)
      expect(headers.get("location")).toEndWith("@3-main/lib/db.ts")
    })

    test("redirects from the val to its entry file if that imports files", async () => {
      const { base, save } = await withFiles()
      await save({ "main.tsx": 'import "./lib/db.ts"' })
      await save({ "main.tsx": 'import "./greet"' })
      for (const client of [runtime, browser]) {
        const { headers } = expectStatus(await get(`${base}@3`, client), 302)
        expect(headers.get("location")).toBe(`${testBaseUrl}${base}@3-main/main.tsx`)
        expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable")
      }
      // Relative to the val, this is another val.
      expectStatus(await get(base), 200)
      await save({ "main.tsx": "export * from '../lib/db.ts'" })
      const { headers } = expectStatus(await get(base), 302)
      expect(headers.get("location")).toBe(`${testBaseUrl}${base}@5-main/main.tsx`)
      expect(headers.get("cache-control")).toBe("public, no-cache")
    })

    test("is that file in that version, for ever", async () => {
      const { base, save } = await withFiles()
      await save({ "lib/db.ts": "newer" })
      for (const pin of ["@2", "@2-main", "@2-MAIN"]) {
        const { text, headers } = expectStatus(await get(`${base}${pin}/lib/db.ts`), 200)
        expect(text).toBe(typescript)
        expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable")
        expect(headers.get("vary")).toBe("authorization, accept, user-agent")
      }
      expect((await get(`${base}@3-main/lib/db.ts`)).text).toBe("newer")
      expect((await get(`${base}@1-draft/lib/db.ts`)).text).toBe("draft")
      expect((await get(`${base}@0-draft/lib/db.ts`)).text).toBe(typescript)
      expect((await get(`${base}@2-main/main.tsx`)).text).toBe("1")
    })

    test("is TypeScript for a runtime, JavaScript for a browser, and never more than text", async () => {
      const { base } = await withFiles()
      const types = [
        ["lib/db.ts", "text/typescript; charset=utf-8", "text/javascript; charset=utf-8"],
        ["page.tsx", "text/tsx; charset=utf-8", "text/javascript; charset=utf-8"],
        ["data.json", "application/json; charset=utf-8", "application/json; charset=utf-8"],
        ["index.html", "text/plain; charset=utf-8", "text/plain; charset=utf-8"],
      ] as const
      for (const [path, forRuntime, forBrowser] of types) {
        const [one, other] = [
          expectStatus(await get(`${base}@2-main/${path}`), 200),
          expectStatus(await get(`${base}@2-main/${path}`, browser), 200),
        ]
        expect([one.headers.get("content-type"), other.headers.get("content-type")]).toEqual([
          forRuntime,
          forBrowser,
        ])
        expect(one.headers.get("content-security-policy")).toBe("default-src 'none'; sandbox")
        expect(one.headers.get("x-content-type-options")).toBe("nosniff")
      }
      expect((await get(`${base}@2-main/lib/db.ts`, browser)).text).not.toContain("number")
    })

    test("is 404 for what does not exist", async () => {
      const { ada, id, base } = await withFiles()
      const missing = [
        ["/lib/none.ts", "file_not_found"],
        ["@2-main/lib", "file_not_found"],
        ["@1-main/lib/db.ts", "file_not_found"],
        ["@2-main/LIB/db.ts", "file_not_found"],
        ["@2-main/lib//db.ts", "file_not_found"],
        ["@2-main/lib/db.ts/", "file_not_found"],
        ["@2-main/lib%2f..%2fpage.tsx", "file_not_found"],
        ["@9-main/lib/db.ts", "version_not_found"],
        ["@none/lib/db.ts", "version_not_found"],
        ["@2-draft/lib/db.ts", "version_not_found"],
        ["@99999999999999999999-main/lib/db.ts", "version_not_found"],
        ["@/lib/db.ts", "version_not_found"],
      ] as const
      for (const [path, code] of missing)
        expect([path, ...refusalOf(await get(`${base}${path}`))]).toEqual([path, 404, code])
      await call("DELETE", `/v1/vals/${id}/versions/1`, { as: ada })
      expect(refusalOf(await get(`${base}@1-main/main.tsx`))).toEqual([404, "version_not_found"])
      expect(refusalOf(await get(`${base}x/lib/db.ts`))).toEqual([404, "val_not_found"])
    })

    test("of a private val is there for its owner only", async () => {
      const { ada, base } = await withFiles({ privacy: "private" })
      for (const path of ["/lib/db.ts", "@2-main/lib/db.ts", "@draft/lib/db.ts"])
        for (const as of [undefined, await person()])
          expect(refusalOf(await call("GET", `${base}${path}`, { as }))).toEqual([
            404,
            "val_not_found",
          ])
      const own = expectStatus(await call("GET", `${base}@2-main/lib/db.ts`, { as: ada }), 200)
      expect(own.headers.get("cache-control")).toBe("private, max-age=31536000, immutable")
      expectStatus(await call("GET", `${base}/lib/db.ts`, { as: ada }), 302)
    })
  })

  describe("?v={version}", () => {
    test("is that version's code, for ever, unless the path names one", async () => {
      const { ada, name } = await withTwo(suite)
      const path = `/v/${ada.username}/${name}`
      const get = (query: string) => call("GET", `${path}${query}`, { headers: runtime })
      const { text, headers } = expectStatus(await get("?v=1"), 200)
      expect(text).toBe("1")
      expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable")
      expect((await get("@2?v=1")).text).toBe("2")
      expect((await get("?x=1")).text).toBe("2")
      const file = expectStatus(await get("@1-main/main.tsx?v=2"), 200)
      expect(file.text).toBe("1")
      expect((await get("/main.tsx?v=1")).text).toBe("1")
      for (const version of ["0", "3", "latest", "", "1-main", "01"])
        for (const file of ["", "/main.tsx"])
          expect([version, ...refusalOf(await get(`${file}?v=${version}`))]).toEqual([
            version,
            404,
            "version_not_found",
          ])
    })
  })

  describe("…@{version}", () => {
    test("is that version's code, also when the val has a newer version", async () => {
      const { ada, name } = await withTwo(suite)
      const get = (pin: string) =>
        call("GET", `/v/${ada.username}/${name}${pin}`, { headers: runtime })
      expect((await get("@1")).text).toBe("1")
      expect((await get("@2")).text).toBe("2")
      expect((await get("")).text).toBe("2")
    })

    for (const version of [
      "0",
      "3",
      "latest",
      "",
      "-1",
      "1.0",
      "01",
      "99999999999999999999",
      "1@1",
      "NaN",
    ]) {
      test(`is 404 for version "${version}"`, async () => {
        const { ada, name } = await withTwo(suite)
        const response = await call("GET", `/v/${ada.username}/${name}@${version}`)
        expect(refusalOf(response)).toEqual([404, "version_not_found"])
        expect(response.json.message).toContain(version)
      })
    }

    test("is 404 for a deleted version", async () => {
      const { ada, id, name } = await withTwo(suite)
      expectStatus(await call("DELETE", `/v1/vals/${id}/versions/1`, { as: ada }), 204)
      expect(refusalOf(await call("GET", `/v/${ada.username}/${name}@1`))).toEqual([
        404,
        "version_not_found",
      ])
    })
  })

  describe("access", () => {
    test("is open to all for an unlisted val", async () => {
      const ada = await person()
      const { name } = await val(ada, { privacy: "unlisted", code: typescript })
      const response = await call("GET", `/v/${ada.username}/${name}`, { headers: runtime })
      expect(expectStatus(response, 200).text).toBe(typescript)
    })

    test("needs the owner's token for a private val, and is 404 for others, whatever the version", async () => {
      const { ada, name } = await withTwo(suite, { privacy: "private" })
      const path = `/v/${ada.username}/${name}@1`
      const own = await call("GET", path, { as: ada, headers: runtime })
      expect(expectStatus(own, 200).text).toBe("1")
      for (const as of [undefined, await person()]) {
        for (const version of ["", "@1", "@9", "@x"]) {
          expect(
            refusalOf(await call("GET", `/v/${ada.username}/${name}${version}`, { as })),
          ).toEqual([404, "val_not_found"])
        }
      }
    })
  })

  describe("caching", () => {
    for (const [privacy, version, expected] of [
      ["public", "", "public, no-cache"],
      ["public", "@1", "public, max-age=31536000, immutable"],
      ["unlisted", "", "public, no-cache"],
      ["private", "", "private, no-cache"],
      ["private", "@1", "private, max-age=31536000, immutable"],
    ] as const) {
      test(`of a ${privacy} val${version}: ${expected}`, async () => {
        const { ada, name } = await withTwo(suite, { privacy })
        const response = expectStatus(
          await call("GET", `/v/${ada.username}/${name}${version}`, { as: ada }),
          200,
        )
        expect(response.headers.get("cache-control")).toBe(expected)
        expect(response.headers.get("vary")?.split(", ").sort()).toEqual([
          "accept",
          "authorization",
          "user-agent",
        ])
      })
    }

    test("has an ETag that differs by version and between browsers and runtimes", async () => {
      const { ada, name } = await withTwo(suite)
      const tagOf = async (path: string, headers: Record<string, string>) =>
        (await call("GET", path, { headers })).headers.get("etag") ?? ""
      const path = `/v/${ada.username}/${name}`
      const tag = await tagOf(path, runtime)
      expect(
        new Set([tag, await tagOf(path, browser), await tagOf(`${path}@1`, runtime)]).size,
      ).toBe(3)
      const response = expectStatus(
        await call("GET", path, { headers: { ...runtime, "if-none-match": tag } }),
        304,
      )
      expect(response.text).toBe("")
      expect(response.headers.get("etag")).toBe(tag)
      expectStatus(await call("GET", path, { headers: { ...browser, "if-none-match": tag } }), 200)
    })
  })
})

async function withTwo(
  { call, addUser: person, val }: ApiSuite,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<{ ada: TestUser; id: string; name: string }> {
  const ada = await person()
  const { id, name } = await val(ada, { code: "1", ...fields })
  expectStatus(await call("POST", `/v1/vals/${id}/versions`, { as: ada, body: { code: "2" } }), 201)
  return { ada, id, name }
}
