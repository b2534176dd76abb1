import { describe, expect, test } from "bun:test"
import { buildDocsPage } from "../index.ts"

const page = await buildDocsPage()
const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

describe("buildDocsPage", () => {
  test("refers only to its own assets", () => {
    const references = [...page.html.matchAll(/(?:src|href)="([^"]+)"/g)].map(
      (match) => match[1] ?? "",
    )
    const files = references.filter(
      (reference) => !reference.startsWith("data:image/svg+xml,") && reference !== "/openapi.json",
    )
    expect(files.toSorted()).toEqual([...page.assets.keys()].toSorted())
    expect(
      [...page.assets.keys()].every((path) =>
        /^\/docs\/assets\/[a-z-]+-[a-z0-9]+\.(js|css)$/.test(path),
      ),
    ).toBe(true)
  })

  test("satisfies a strict content security policy", () => {
    expect(page.html).not.toMatch(/<script(?![^>]* src=)|<style| style=| on[a-z]+=/)
    for (const { body, contentType } of page.assets.values()) {
      expect(decode(body)).not.toMatch(
        contentType.startsWith("text/css") ? /url\(|@import/ : /\beval\(|new Function\(/,
      )
    }
  })

  test("is at most 60 KB to download", () => {
    const parts = [
      new TextEncoder().encode(page.html),
      ...[...page.assets.values()].map((asset) => asset.body),
    ]
    const bytes = parts.reduce((sum, part) => sum + Bun.gzipSync(new Uint8Array(part)).length, 0)
    expect(bytes).toBeLessThanOrEqual(60_000)
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
