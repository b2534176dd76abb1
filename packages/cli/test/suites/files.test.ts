import { describe, expect, test } from "bun:test"
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { read, write } from "../support/folder.ts"
import { useStage } from "../support/shared-stage.ts"
import type { Person } from "../support/stage.ts"

const codeOf = async (person: Person, name: string) =>
  (await person.client.getValByName({ username: person.username, val_name: name })).code

describe("val push, pull, clone", () => {
  const stage = useStage()

  test("push creates and updates vals from files, without their first lines", async () => {
    const ada = await stage().person("push1")
    write(ada, "hello.ts", "export default 1\n")
    write(
      ada,
      "some-page.tsx",
      "// hamlet: name=page privacy=public type=http\nexport default () => <p>hi</p>\n",
    )

    expect(await ada.print(["val", "push", "hello.ts", "some-page.tsx"])).toBe(
      "push1/hello@1\npush1/page@1\n",
    )
    expect(await ada.json(["val", "show", "page"])).toMatchObject([
      { code: "export default () => <p>hi</p>\n", privacy: "public", type: "http" },
    ])
    expect(await ada.json(["val", "show", "hello"])).toMatchObject([
      { code: "export default 1\n", privacy: "private", type: "script" },
    ])

    write(ada, "hello.ts", "export default 2\n")
    expect(await ada.json(["val", "push", "hello.ts"])).toMatchObject([
      { file: "hello.ts", val: { name: "hello", version: 2 } },
    ])
    expect(await ada.print(["val", "push", "hello.ts"])).toBe("push1/hello@2\n")
    write(ada, "hello.ts", "// hamlet: name=renamed privacy=unlisted\nexport default 2\n")
    expect(await ada.json(["val", "push", "hello.ts"])).toMatchObject([
      { val: { name: "renamed", version: 2, privacy: "unlisted" } },
    ])
    expect(
      (await ada.client.listVals({ userId: (await ada.client.getMe()).id })).data,
    ).toHaveLength(2)
  })

  test("push refuses to overwrite newer versions without --force", async () => {
    const ada = await stage().person("push2")
    write(ada, "hello.ts", "mine 1")
    await ada.print(["val", "push", "hello.ts"])
    await ada.client.saveVal({ name: "hello", code: "theirs" })
    write(ada, "hello.ts", "mine 2")

    expect(await ada.hamlet(["val", "push", "hello.ts"])).toMatchObject({
      exit: 5,
      stdout: "",
      stderr: expect.stringMatching(/has changed since.+"--force"/),
    })
    expect(await codeOf(ada, "hello")).toBe("theirs")
    expect(await ada.print(["val", "push", "hello.ts", "--force"])).toBe("push2/hello@3\n")
    await ada.client.deleteVal({
      val_id: (await ada.client.getValByName({ username: "push2", val_name: "hello" })).id,
    })
    expect(await ada.hamlet(["val", "push", "hello.ts"])).toMatchObject({
      exit: 5,
      stderr: expect.stringContaining("was deleted"),
    })
  })

  test("push continues after failures, and the first one sets the exit code", async () => {
    const ada = await stage().person("push3")
    write(ada, "good.ts", "1")
    write(ada, "no name.ts", "1")
    write(ada, "bad_line.ts", "// hamlet: privacy=secret\n1")
    writeFileSync(join(ada.folder, "binary.ts"), new Uint8Array([0xff, 0xfe, 0]))
    const { exit, stdout, stderr } = await ada.hamlet([
      "val",
      "push",
      "no name.ts",
      "gone.ts",
      "bad_line.ts",
      "binary.ts",
      "data.json",
      "types.d.ts",
      "good.ts",
    ])
    expect([exit, stdout]).toEqual([2, "push3/good@1\n"])
    for (const text of [
      '"no name.ts"',
      'read "gone.ts"',
      'of "bad_line.ts": "secret" is not a valid privacy',
      "UTF-8",
      '"data.json"',
      '"types.d.ts"',
    ])
      expect(stderr).toContain(text)
  })

  test("pull writes a val into a file with its first line, and again when it has changed", async () => {
    const ada = await stage().person("pull1")
    await ada.client.createVal({ name: "hello", code: "one\r\n\ttwo", privacy: "public" })
    expect(await ada.print(["val", "pull", "hello"])).toBe("hello.ts\n")
    expect(read(ada, "hello.ts")).toBe(
      "// hamlet: name=hello privacy=public type=script\none\r\n\ttwo",
    )
    expect(await ada.print(["val", "push", "hello.ts"])).toBe("pull1/hello@1\n")

    await ada.client.saveVal({ name: "hello", code: "three", type: "http" })
    expect(await ada.json(["val", "pull"])).toMatchObject([
      { file: "hello.ts", val: { version: 2 } },
    ])
    expect(read(ada, "hello.ts")).toBe("// hamlet: name=hello privacy=public type=http\nthree")
    expect(await ada.print(["val", "pull", "hello@1", "--dir", "old"])).toBe("old/hello.ts\n")
    expect(read(ada, "old", "hello.ts")).toEndWith("two")
    expect(read(ada, ".hamlet", ".gitignore")).toBe("*\n")
  })

  test("pull refuses to overwrite local changes without --force, and writes through a link", async () => {
    const ada = await stage().person("pull2")
    await ada.client.createVal({ name: "hello", code: "one" })
    mkdirSync(join(ada.folder, "elsewhere"))
    write(ada, "elsewhere/real.ts", "my own work")
    symlinkSync("elsewhere/real.ts", join(ada.folder, "hello.ts"))
    expect(await ada.hamlet(["val", "pull", "hello"])).toMatchObject({
      exit: 5,
      stdout: "",
      stderr: expect.stringMatching(/local changes.+"--force"/),
    })
    expect(read(ada, "hello.ts")).toBe("my own work")
    expect(await ada.print(["val", "pull", "hello", "--force"])).toBe("hello.ts\n")
    expect(read(ada, "elsewhere/real.ts")).toBe(
      "// hamlet: name=hello privacy=private type=script\none",
    )
    write(ada, "hello.ts", "changed again")
    expect((await ada.hamlet(["val", "pull"])).exit).toBe(5)
    expect((await ada.hamlet(["val", "pull"], { cwd: join(ada.folder, "elsewhere") })).exit).toBe(2)
    expect((await ada.hamlet(["val", "pull", "nothing"])).exit).toBe(4)
  })

  test("push creates a copy of another user's val only with --force", async () => {
    const [ada, bob] = [await stage().person("pull3"), await stage().person("pull4")]
    await ada.client.createVal({ name: "hello", code: "hers", privacy: "public" })
    await bob.print(["val", "pull", "pull3/hello"])
    expect(await bob.hamlet(["val", "push", "hello.ts"])).toMatchObject({
      exit: 3,
      stderr: expect.stringContaining("--force"),
    })
    expect(await bob.print(["val", "push", "hello.ts", "--force"])).toBe("pull4/hello@1\n")
    expect(await bob.print(["val", "push", "hello.ts"])).toBe("pull4/hello@1\n")
    expect(await codeOf(ada, "hello")).toBe("hers")
  })

  test("clone downloads all vals of a user, and later only changes", async () => {
    const [ada, bob] = [await stage().person("clone1"), await stage().person("clone2")]
    await ada.client.createVal({ name: "shown", code: "1", privacy: "public" })
    await ada.client.createVal({ name: "element", code: "export default 1", privacy: "public" })
    await ada.client.createVal({ name: "hidden", code: "1" })
    expect((await ada.print(["val", "clone"])).split("\n").sort()).toEqual([
      "",
      "clone1/element",
      "clone1/hidden",
      "clone1/shown",
    ])
    expect(
      (await bob.json(["val", "clone", "clone1", "copies"])).map(({ folder }) => folder),
    ).toEqual(["copies/element", "copies/shown"])
    await ada.client.createVal({ name: "later", code: "1", privacy: "public" })
    write(bob, "copies/shown/main.tsx", "my own")
    expect(await bob.hamlet(["val", "clone", "clone1", "copies"])).toMatchObject({
      exit: 0,
      stdout: "copies/later\ncopies/element\ncopies/shown\n",
    })
    expect(readdirSync(join(bob.folder, "copies")).sort()).toEqual([
      ".hamlet",
      "element",
      "later",
      "shown",
    ])
    expect(read(bob, "copies/shown/main.tsx")).toBe("my own")
    // A folder has the vals of one user.
    expect(await bob.hamlet(["val", "watch", "copies", "--once"])).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("it is the folder of clone1 on"),
    })
    expect((await bob.hamlet(["val", "clone", "nobody_at_all"])).exit).toBe(4)
  })

  test("push and pull include the readme, and do not overwrite one that changed meanwhile", async () => {
    const ada = await stage().person("readme1")
    const readmeOf = async () =>
      (await ada.client.getValByName({ username: "readme1", val_name: "hello" })).readme
    const { id } = await ada.client.createVal({ name: "hello", code: "one", readme: "# One\n" })
    await ada.print(["val", "pull", "hello"])
    expect(read(ada, "hello.ts.README.md")).toBe("# One\n")
    write(ada, "hello.ts.README.md", "# Two\n")
    expect(await ada.print(["val", "push", "hello.ts"])).toBe("readme1/hello@2\n")
    expect(await readmeOf()).toBe("# Two\n")

    // What was changed on the other side only is neither undone nor a conflict.
    await ada.client.updateVal({ val_id: id, readme: "# Theirs\n" })
    await ada.print(["val", "push", "hello.ts"])
    expect(await readmeOf()).toBe("# Theirs\n")
    await ada.print(["val", "pull"])
    expect(read(ada, "hello.ts.README.md")).toBe("# Theirs\n")

    await ada.client.updateVal({ val_id: id, readme: "# Theirs again\n" })
    write(ada, "hello.ts.README.md", "# Mine\n")
    expect(await ada.hamlet(["val", "push", "hello.ts"])).toMatchObject({
      exit: 5,
      stderr: expect.stringMatching(/readme has changed since/),
    })
    expect(await ada.hamlet(["val", "pull"])).toMatchObject({
      exit: 5,
      stderr: expect.stringMatching(/hello.ts.README.md.+local changes/),
    })
    expect([await readmeOf(), read(ada, "hello.ts.README.md")]).toEqual([
      "# Theirs again\n",
      "# Mine\n",
    ])
    await ada.print(["val", "push", "hello.ts", "--force"])
    expect(await readmeOf()).toBe("# Mine\n")

    await ada.client.updateVal({ val_id: id, readme: null })
    await ada.print(["val", "pull"])
    expect(readdirSync(ada.folder).filter((name) => name.startsWith("hello"))).toEqual(["hello.ts"])
    await ada.client.updateVal({ val_id: id, readme: "# Stays\n" })
    write(ada, "hello.ts", "two")
    await ada.print(["val", "push", "hello.ts"])
    await ada.print(["val", "pull"])
    expect([await readmeOf(), read(ada, "hello.ts.README.md")]).toEqual(["# Stays\n", "# Stays\n"])

    write(ada, "made.ts", "1")
    write(ada, "made.ts.README.md", "# Made\n")
    expect(await ada.json(["val", "push", "made.ts"])).toMatchObject([
      { val: { name: "made", readme: "# Made\n" } },
    ])
  })

  test("an unwritable folder is reported, and no partial file is left", async () => {
    const ada = await stage().person("pull5")
    await ada.client.createVal({ name: "hello", code: "one" })
    write(ada, "file", "not a folder")
    expect(await ada.hamlet(["val", "pull", "hello", "--dir", "file/inner"])).toMatchObject({
      exit: 1,
      stdout: "",
      stderr: expect.stringMatching(/^Cannot write .+\n/),
    })
    expect(read(ada, "file")).toBe("not a folder")
  })
})
