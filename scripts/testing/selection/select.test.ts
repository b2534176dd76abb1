import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../../setup/root.mjs"
import { selectTests } from "./select.mjs"
import { listTestFiles } from "./test-files.mjs"

const ofFolder = (...folders: readonly string[]) =>
  listTestFiles(root)
    .filter((file) => folders.some((folder) => file.startsWith(folder)))
    .map((file) => `./${file}`)

describe("selectTests", () => {
  test.each([
    ["cli", ["packages/cli/"]],
    ["sandbox", ["packages/sandbox/"]],
    ["std", ["packages/std/"]],
    ["api/std", ["packages/server/test/api/std.test.ts"]],
    ["packages/cli", ["packages/cli/"]],
    ["./packages/cli/", ["packages/cli/"]],
    ["web", ["packages/web/"]],
    ["browser", ["packages/web/test/"]],
    ["api", ["packages/server/test/api/"]],
    ["query-plans", ["packages/server/test/query-plans.test.ts"]],
    ["gateway", ["packages/server/src/gateway/", "packages/server/test/gateway/"]],
    ["storage/migrations", ["packages/server/src/storage/migrations/"]],
  ])("%s selects the files of that suite", (name, folders) => {
    const files = ofFolder(...folders)
    expect(files.length).toBeGreaterThan(0)
    expect(selectTests(root, [name])).toEqual(files)
  })

  test("parts of paths select the files that have them, also beside a suite", () => {
    const files = [
      ...ofFolder("packages/server/test/query-plans"),
      ...ofFolder("packages/server/test/api/"),
      ...ofFolder("packages/guest/test/"),
    ]
    expect(selectTests(root, ["query-pl", "server/test/ap", "guest"])).toEqual(files)
  })

  test("keeps options, their values and what is no part of a path", () => {
    const args = ["no/such/suite", "-t", "cli", "--timeout", "5"]
    expect(selectTests(root, args)).toEqual(args)
  })

  test("knows every suite that packages/server/test/README.md lists", () => {
    const readme = readFileSync(join(root, "packages/server/test/README.md"), "utf8")
    const [, table = ""] = /\| suite \|.*\n\|.*\n((?:\|.*\n)+)/.exec(readme) ?? []
    const names = [...table.matchAll(/^\| (.*?) \|/gm)].flatMap(([, cell = ""]) =>
      Array.from(cell.matchAll(/`([^`]+)`/g), ([, name = ""]) => name),
    )
    expect(names.length).toBeGreaterThan(15)
    for (const name of names) expect([name, ...selectTests(root, [name])]).not.toEqual([name, name])
  })
})
