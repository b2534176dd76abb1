import { describe, expect, test } from "bun:test"
import { buildDocsPage } from "../index.ts"

const page = await buildDocsPage()
const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
const styles = () =>
  [...page.assets.values()]
    .filter(({ contentType }) => contentType.startsWith("text/css"))
    .map(({ body }) => decode(body))

describe("buildDocsPage", () => {
  test("refers only to its own assets", () => {
    const inHtml = [...page.html.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] ?? "")
    const inStyle = styles().flatMap((style) =>
      [...style.matchAll(/url\(\.\/([^)]+)\)/g)].map((match) => `/docs/assets/${match[1]}`),
    )
    const references = [...new Set([...inHtml, ...inStyle])]
    const files = references.filter(
      (reference) => !reference.startsWith("data:image/svg+xml,") && reference !== "/openapi.json",
    )
    expect(files.toSorted()).toEqual([...page.assets.keys()].toSorted())
    expect(
      [...page.assets.keys()].every((path) =>
        /^\/docs\/assets\/[a-z-]+-[a-z0-9]+\.(js|css|woff2)$/.test(path),
      ),
    ).toBe(true)
  })

  test("satisfies a strict content security policy", () => {
    expect(page.html).not.toMatch(/<script(?![^>]* src=)|<style| style=| on[a-z]+=/)
    for (const { body, contentType } of page.assets.values()) {
      if (contentType === "font/woff2") continue
      expect(decode(body)).not.toMatch(
        contentType.startsWith("text/css")
          ? /url\((?!\.\/[a-z0-9-]+\.woff2\))|@import/
          : /\beval\(|new Function\(/,
      )
    }
  })

  test("is at most 60 KB to download, and 55 KB of fonts", () => {
    const weigh = (parts: readonly Uint8Array[]) =>
      parts.reduce((sum, part) => sum + Bun.gzipSync(new Uint8Array(part)).length, 0)
    const isFont = (path: string) => path.endsWith(".woff2")
    const assets = [...page.assets]
    const files = assets.filter(([path]) => !isFont(path)).map(([, asset]) => asset.body)
    expect(weigh([new TextEncoder().encode(page.html), ...files])).toBeLessThanOrEqual(60_000)
    // The others are fetched only for letters that few texts have.
    const preloaded = assets.filter(([path]) => isFont(path) && page.html.includes(path))
    expect(preloaded).toHaveLength(2)
    expect(weigh(preloaded.map(([, asset]) => asset.body))).toBeLessThanOrEqual(55_000)
  })

  test("gives the same names for the same content, so that they can be cached forever", async () => {
    expect([...(await buildDocsPage()).assets.keys()]).toEqual([...page.assets.keys()])
  })

  test("does not bundle zod or the contract", () => {
    const scripts = [...page.assets.values()].map((asset) => decode(asset.body)).join("")
    expect(scripts).not.toContain("ZodObject")
    expect(scripts).toContain("name_taken")
  })
})
