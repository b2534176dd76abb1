import { afterAll, beforeAll, expect, test } from "bun:test"
import { openApi, type TestApi, testBaseUrl } from "../support/api.ts"

let api: TestApi
beforeAll(async () => {
  api = await openApi()
})
afterAll(() => api.close())

const get = (path: string, init?: RequestInit) => api.hamlet.app.request(testBaseUrl + path, init)

test("GET /llms.txt introduces vals, and every link in it works", async () => {
  const response = await get("/llms.txt")
  expect(response.headers.get("content-type")).toBe("text/markdown; charset=utf-8")
  const text = await response.text()
  expect(text).toStartWith("# Hamlet\n")
  expect(text.length).toBeLessThan(6_000)
  const links = Array.from(text.matchAll(/\]\(([^)]+)\)/g), ([, link = ""]) => link)
  expect(links).toContain(`${testBaseUrl}/docs/vals.md`)
  for (const link of links) expect((await get(link.slice(testBaseUrl.length))).status).toBe(200)
})

test("GET /docs/{page}.md returns a page as Markdown, and nothing else of the disk", async () => {
  const response = await get("/docs/std.md")
  expect(response.headers.get("content-type")).toBe("text/markdown; charset=utf-8")
  expect(await response.text()).toStartWith("# The standard library\n")
  for (const path of ["/docs/nothing.md", "/docs/..%2fREADME.md", "/docs/adr%2f0001.md"])
    expect((await get(path)).status).toBe(404)
  expect((await get("/docs/std.md", { method: "POST" })).status).toBe(405)
})
