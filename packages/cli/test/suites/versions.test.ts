import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import type { Input } from "@hamlet/contract/client"
import { openGate } from "../support/gate.ts"
import { useStage } from "../support/shared-stage.ts"
import type { Person } from "../support/stage.ts"

async function saveAll(ada: Person, ...codes: readonly string[]) {
  for (const code of codes) await ada.client.saveVal({ name: "hello", code })
}

describe("version", () => {
  const stage = useStage()

  test("list marks the current version, and show prints only the code", async () => {
    const ada = await stage().person("versions1")
    await saveAll(ada, "one\n", "two\nlines", "three")
    const rows = (await ada.print(["version", "list", "hello"]))
      .split("\n")
      .map((line) => line.split("\t"))
    expect(rows.map(([mark, version, , , lines]) => [mark, version, lines])).toEqual([
      ["*", "3", "1"],
      ["", "2", "2"],
      ["", "1", "1"],
      ["", undefined, undefined],
    ])
    expect(
      (await ada.json(["version", "list", "hello", "-n", "2"])).map(({ version, code }) => [
        version,
        code,
      ]),
    ).toEqual([
      [3, "three"],
      [2, "two\nlines"],
    ])
    expect(await ada.print(["version", "show", "hello"])).toBe("three")
    expect(await ada.print(["version", "show", "hello", "2"])).toBe("two\nlines")
    expect(await ada.print(["version", "show", "versions1/hello@1"])).toBe("one\n")
    expect(await ada.json(["version", "show", "hello", "1"])).toMatchObject([
      { version: 1, code: "one\n" },
    ])
    expect((await ada.hamlet(["version", "show", "hello@1", "2"])).exit).toBe(2)
    expect((await ada.hamlet(["version", "show", "hello", "9"])).exit).toBe(4)
    expect((await ada.hamlet(["version", "show", "hello", "last"])).exit).toBe(2)
    expect((await ada.hamlet(["version", "list", "hello@1"])).exit).toBe(2)
  })

  test("diff prints a unified diff that patch accepts", async () => {
    const ada = await stage().person("versions2")
    const lines = Array.from({ length: 40 }, (_, index) => `line ${index}`)
    const first = `${lines.join("\n")}\n`
    const second = `${["new", ...lines.slice(0, 10), "changed", ...lines.slice(11)].join("\n")}`
    await saveAll(ada, first, "between", second)
    const diff = await ada.print(["version", "diff", "hello", "1", "3"])
    expect(diff).toStartWith("--- a/main.tsx\n+++ b/main.tsx\n@@ -1,3 +1,4 @@\n+new\n line 0\n")
    expect(diff).toEndWith("-line 39\n+line 39\n\\ No newline at end of file\n")
    await Bun.write(join(ada.folder, "main.tsx"), first)
    await Bun.$`git apply --whitespace=nowarn - < ${Buffer.from(diff)}`.cwd(ada.folder).quiet()
    expect(await Bun.file(join(ada.folder, "main.tsx")).text()).toBe(second)
    expect(await ada.print(["version", "diff", "hello"])).toStartWith(
      "--- a/main.tsx\n+++ b/main.tsx\n@@ -1,1 +1,41 @@\n-between\n",
    )
    expect(await ada.print(["version", "diff", "hello", "3"])).toBe("")
    expect(await ada.json(["version", "diff", "hello", "1", "3"])).toMatchObject([
      { from: 1, to: 3, diff, files: [{ path: "main.tsx", before: first, after: second, diff }] },
    ])
    expect((await ada.hamlet(["version", "diff", "hello@1"])).exit).toBe(4)
  })

  test("diff and restore mean all files of a val", async () => {
    const ada = await stage().person("versions5")
    const { id } = await ada.client.createVal({ name: "app", code: "main" })
    const save = (changes: Input<"changeFiles">["changes"]) =>
      ada.client.changeFiles({ val_id: id, changes })
    await save([
      { path: "a.ts", content: "one\n" },
      { path: "b.ts", content: "old\n" },
    ])
    await save([
      { path: "a.ts", content: "two\n" },
      { path: "b.ts", newPath: "c.ts" },
      { path: "d.ts", content: "new\n" },
      { path: "e.ts", content: "" },
    ])
    const changed = "--- a/a.ts\n+++ b/a.ts\n@@ -1,1 +1,1 @@\n-one\n+two\n"
    const added = "--- /dev/null\n+++ b/d.ts\n@@ -0,0 +1,1 @@\n+new\n"
    expect(await ada.print(["version", "diff", "app"])).toBe(
      `${changed}a/b.ts b/c.ts\n${added}/dev/null b/e.ts\n`,
    )
    expect(await ada.json(["version", "diff", "app", "2", "3"])).toEqual([
      {
        from: 2,
        to: 3,
        diff: changed + added,
        files: [
          { path: "a.ts", newPath: "a.ts", before: "one\n", after: "two\n", diff: changed },
          { path: "b.ts", newPath: "c.ts", before: "old\n", after: "old\n", diff: "" },
          { path: "d.ts", newPath: "d.ts", before: null, after: "new\n", diff: added },
          { path: "e.ts", newPath: "e.ts", before: null, after: "", diff: "" },
        ],
      },
    ])
    expect(await ada.print(["version", "restore", "app", "2"])).toBe("versions5/app@4\n")
    expect(await ada.print(["version", "diff", "app", "2"])).toBe("")
    expect(await ada.print(["file", "cat", "app", "b.ts"])).toBe("old\n")
    expect(await ada.print(["version", "list", "app", "-n", "1"])).toContain("Restored version 2")
    // Nothing differs: there is no new version.
    expect(await ada.print(["version", "restore", "app", "2"])).toBe("versions5/app@4\n")
  })

  test("restore saves old code as a new version", async () => {
    const ada = await stage().person("versions3")
    await saveAll(ada, "one", "two")
    expect(await ada.print(["version", "restore", "hello", "1"])).toBe("versions3/hello@3\n")
    expect(await ada.print(["version", "show", "hello"])).toBe("one")
    expect(await ada.json(["version", "restore", "hello@2"])).toMatchObject([
      { version: 4, code: "two" },
    ])
    expect(await ada.hamlet(["version", "restore", "hello"])).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('"hello@3"'),
    })
  })

  test("restore prints the version that it has made, not one that was saved after it", async () => {
    const ada = await stage().person("versions6")
    await saveAll(ada, "one", "two")
    await using gate = openGate(stage().url)
    const answer = gate.hold(/^POST .*\/restore$/, "after")
    const restored = ada.json(["version", "restore", "hello", "1"], {
      env: { HAMLET_URL: gate.url, HAMLET_TOKEN: ada.token },
    })
    await answer.isHeld
    await saveAll(ada, "four")
    answer.release()
    expect(await restored).toMatchObject([{ version: 3, code: "one" }])
  })

  test("rm deletes a version, after asking, and never the last one", async () => {
    const ada = await stage().person("versions4")
    await saveAll(ada, "one", "two")
    expect((await ada.hamlet(["version", "rm", "hello", "1"])).exit).toBe(2)
    expect((await ada.hamlet(["version", "rm", "hello", "--yes"])).exit).toBe(2)
    expect(await ada.print(["version", "rm", "hello", "1", "--yes"])).toBe("versions4/hello@1\n")
    expect(await ada.hamlet(["version", "rm", "hello@2", "--yes"])).toMatchObject({
      exit: 5,
      stderr: expect.stringContaining('"hamlet val rm"'),
    })
    expect((await ada.hamlet(["version", "rm", "hello@1", "-y"])).exit).toBe(4)
  })
})
