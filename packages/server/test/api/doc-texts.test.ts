import { afterAll, beforeAll, expect, test } from "bun:test"
import { readdir } from "node:fs/promises"
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

test("GET /docs/pages.json has every page of the documentation", async () => {
  const response = await get("/docs/pages.json", { headers: { "accept-encoding": "gzip" } })
  expect(response.headers.get("content-encoding")).toBe("gzip")
  const { pages } = (await (await get("/docs/pages.json")).json()) as {
    pages: { name: string; title: string; group: string; text: string }[]
  }
  const files = await readdir(new URL("../../../../docs", import.meta.url))
  expect(pages.map(({ name }) => `${name}.md`).toSorted()).toEqual(
    files.filter((file) => file.endsWith(".md")).toSorted(),
  )
  const [{ name, title, group } = { name: "", title: "", group: "" }] = pages
  expect([name, title, group]).toEqual(["vals", "Writing vals", "Write vals"])
  for (const { text } of pages) expect(text).toStartWith("# ")
})

test("GET /docs/{page} is a page of the web app; its pictures are served, and no other file", async () => {
  const page = await get("/docs/vals")
  expect(page.headers.get("content-type")).toStartWith("text/html")
  const picture = await get("/docs/images/home-wide-light.webp")
  expect(picture.headers.get("content-type")).toBe("image/webp")
  for (const path of ["/docs/images/nothing.webp", "/docs/images/..%2f..%2fpackage.webp"])
    expect((await get(path)).status).toBe(404)
})
