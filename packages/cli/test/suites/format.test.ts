import { describe, expect, test } from "bun:test"
import { read, write } from "../support/folder.ts"
import { useStage } from "../support/shared-stage.ts"

const untidy = "const  a = 'a'\nexport  default ()=>a\n"
const tidy = "const a = 'a'\nexport default () => a\n"

describe("val fmt", () => {
  const stage = useStage()

  test("formats files in place, without their first lines, and vals as a new version", async () => {
    const ada = await stage().person("fmt1")
    write(ada, "page.tsx", `// hamlet: name=page  type=http\n${untidy}`)
    const { id } = await ada.client.createVal({ name: "hello", code: untidy })
    expect(await ada.print(["val", "fmt", "page.tsx", "hello"])).toBe("page.tsx\nfmt1/hello@2\n")
    expect(read(ada, "page.tsx")).toBe(`// hamlet: name=page  type=http\n${tidy}`)
    expect((await ada.client.getVal({ val_id: id })).code).toBe(tidy)
    // Formatted code is not saved again.
    expect(await ada.json(["val", "fmt", "hello", "page.tsx"])).toEqual([
      { name: "fmt1/hello", isChanged: false, version: 2 },
      { name: "page.tsx", isChanged: false },
    ])
    expect(await ada.print(["val", "fmt", "-"], { input: untidy })).toBe(tidy)
  })

  test("checks without changing anything, and goes on after code that does not parse", async () => {
    const ada = await stage().person("fmt2")
    write(ada, "bad.ts", untidy)
    write(ada, "good.ts", tidy)
    write(ada, "broken.ts", "export default (\n")
    await ada.client.createVal({ name: "hello", code: untidy })
    expect(await ada.hamlet(["val", "fmt", "--check", "good.ts"])).toMatchObject({ exit: 0 })
    expect(await ada.hamlet(["val", "fmt", "--check", "good.ts", "bad.ts", "hello"])).toMatchObject(
      { exit: 1, stdout: "bad.ts\nfmt2/hello@1\n" },
    )
    expect(read(ada, "bad.ts")).toBe(untidy)
    expect(await ada.hamlet(["val", "fmt", "broken.ts", "nothing.ts", "bad.ts"])).toMatchObject({
      exit: 1,
      stdout: "bad.ts\n",
      stderr: expect.stringMatching(/Cannot format "broken.ts": .+\n.*read "nothing.ts"/),
    })
    expect(read(ada, "bad.ts")).toBe(tidy)
    expect(await ada.hamlet(["val", "fmt", "gone"])).toMatchObject({ exit: 4 })
  })
})

describe("notification list, read", () => {
  const stage = useStage()

  test("list what happened to the vals of a user, and mark it as read", async () => {
    const [ada, grace] = [await stage().person("news1"), await stage().person("news2")]
    const { id } = await ada.client.createVal({ name: "tea", code: "1", privacy: "public" })
    await grace.client.likeVal({ val_id: id })
    await grace.client.createComment({ val_id: id, comment: "Lovely" })
    const [comment, like] = await ada.json(["notification", "list"])
    expect([comment, like]).toMatchObject([
      { type: "comment", readAt: null, comment: { text: "Lovely" } },
      { type: "like", readAt: null, user: { username: "news2" } },
    ])
    expect(await ada.print(["notification", "read", comment.id])).toBe("1\n")
    const list = async (...args: readonly string[]) =>
      (await ada.print(["notification", "list", ...args])).split("\n").filter(Boolean)
    expect((await list()).map((line) => line.split("\t").slice(1, 5))).toEqual([
      ["read", "comment", "news1/tea", "news2"],
      ["unread", "like", "news1/tea", "news2"],
    ])
    expect(await list("--unread")).toEqual([expect.stringContaining("\tlike\t")])
    expect(await ada.json(["notification", "read", "--all"])).toEqual([{ unread: 0 }])
    expect(await list("--unread")).toEqual([])
    for (const args of [[], ["--all", comment.id]])
      expect((await ada.hamlet(["notification", "read", ...args])).exit).toBe(2)
  })
})
