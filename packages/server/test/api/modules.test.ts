import { describe, expect, test } from "bun:test"
import { expectStatus, type TestUser } from "../support/api.ts"
import { type ApiSuite, describeApi, refusalOf } from "./suite.ts"

const browser = { "user-agent": "Mozilla/5.0 (X11; Linux x86_64)" }
const runtime = { "user-agent": "Deno/2.9.5" }
const typescript = "export const twice = (x: number): number => x * 2\n"

describeApi("api/modules", (suite) => {
  const { call, addUser: person, val } = suite

  describe("GET /v/{username}/{val_name}", () => {
    test("is the unchanged TypeScript for a runtime or an unknown client", async () => {
      const ada = await person()
      const { name } = await val(ada, { code: typescript })
      for (const headers of [runtime, {}]) {
        const response = expectStatus(
          await call("GET", `/v/${ada.username}/${name}`, { headers }),
          200,
        )
        expect(response.text).toBe(typescript)
        expect(response.headers.get("content-type")).toBe("text/tsx; charset=utf-8")
      }
    })

    test("is JavaScript without types for a browser", async () => {
      const ada = await person()
      const { name } = await val(ada, { code: `${typescript}export const p = <p>{twice(1)}</p>` })
      const response = expectStatus(
        await call("GET", `/v/${ada.username}/${name}`, { headers: browser }),
        200,
      )
      expect(response.headers.get("content-type")).toBe("text/javascript; charset=utf-8")
      expect(response.text).toContain("twice")
      expect(response.text).not.toContain("number")
      expect(response.text).not.toContain("<p>")
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
        expect(expectStatus(await call("GET", `/v/${path}`), 200).text).toBe(typescript)
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

  describe("…@{version}", () => {
    test("is that version's code, also when the val has a newer version", async () => {
      const { ada, name } = await withTwo(suite)
      expect((await call("GET", `/v/${ada.username}/${name}@1`)).text).toBe("1")
      expect((await call("GET", `/v/${ada.username}/${name}@2`)).text).toBe("2")
      expect((await call("GET", `/v/${ada.username}/${name}`)).text).toBe("2")
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
      expect(expectStatus(await call("GET", `/v/${ada.username}/${name}`), 200).text).toBe(
        typescript,
      )
    })

    test("needs the owner's token for a private val, and is 404 for others, whatever the version", async () => {
      const { ada, name } = await withTwo(suite, { privacy: "private" })
      expect(
        expectStatus(await call("GET", `/v/${ada.username}/${name}@1`, { as: ada }), 200).text,
      ).toBe("1")
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
