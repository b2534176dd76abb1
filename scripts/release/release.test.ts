import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { root } from "../setup/root.mjs"
import { isInContext, isInServer, listSources } from "./contents.mjs"
import { readNotes } from "./notes.mjs"

describe("a release", () => {
  const sources = listSources(root)

  test("has the notes of its version, which must be the first section of the changelog", () => {
    const changelog = "# Changelog\n\n## 0.3.0 (2026-12-01)\n\n- new\n\n## 0.2.0\n\n- old\n"
    expect(readNotes(changelog, "0.3.0")).toBe("- new")
    expect(() => readNotes(changelog, "0.2.0")).toThrow(
      'Cannot release 0.2.0: the first section of CHANGELOG.md is "0.3.0 (2026-12-01)"; name it "0.2.0"',
    )
  })

  test("contains the program, its command line, its documents and deploy/, and no tests", () => {
    const files = sources.filter(isInServer)
    for (const path of [
      "package-lock.json",
      "packages/server/src/main.ts",
      "packages/cli/bin/hamlet",
      "packages/guest/src/main.ts",
      "docs/self-hosting.md",
      "deploy/systemd/hamlet.service",
    ])
      expect(files).toContain(path)
    expect(
      files.filter((path) => /\.test\.tsx?$|\/test\/|^bench\/|^docs\/images\//.test(path)),
    ).toEqual([])
  })

  test("contains every file that `npm start` imports", () => {
    const files = new Set(sources.filter(isInServer))
    const waiting = ["scripts/start.mjs"]
    for (const path of waiting) {
      expect([path, files.has(path)]).toEqual([path, true])
      const text = readFileSync(join(root, path), "utf8")
      for (const [, name = ""] of text.matchAll(/from "(\.[^"]+)"/g)) {
        const imported = join(dirname(path), name)
        if (!waiting.includes(imported)) waiting.push(imported)
      }
    }
    expect(waiting.length).toBeGreaterThan(4)
  })

  test("has the context of the image: the files that its build copies", () => {
    const files = sources.filter(isInContext)
    const copied = readFileSync(join(root, "deploy", "Containerfile"), "utf8")
      .match(/^COPY (?!--from)(.+) \S+$/gm)
      ?.flatMap((line) => line.split(" ").slice(1, -1))
      .filter((path) => path !== ".")
    expect(copied?.length).toBeGreaterThan(5)
    for (const path of copied ?? []) expect(files).toContain(path)
    expect(files).toContain("scripts/find-deno.ts")
    expect(files).toContain("docs/vals.md")
    expect(files.filter((path) => /^packages\/cli\/src\/|\/test\//.test(path))).toEqual([])
  })
})
