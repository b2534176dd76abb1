import { describe, expect, test } from "bun:test"
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { openGate } from "../support/gate.ts"
import { useStage } from "../support/shared-stage.ts"
import type { Person, Stage } from "../support/stage.ts"
import { until } from "../support/until.ts"

describe("val", () => {
  const stage = useStage()

  test("new reads code from standard input and from a file with its first line, and generates a name", async () => {
    const ada = await stage().person("new1")
    expect(await ada.print(["val", "new", "answer"], { input: "export default () => 42\n" })).toBe(
      "new1/answer@1\n",
    )
    writeFileSync(
      join(ada.folder, "web.ts"),
      "// hamlet: name=site privacy=unlisted type=http\nexport default () => new Response()\n",
    )
    writeFileSync(join(ada.folder, "readme.md"), "# Site\n")
    expect(
      await ada.json([
        "val",
        "new",
        "-f",
        "web.ts",
        "--privacy",
        "public",
        "--readme",
        "readme.md",
      ]),
    ).toMatchObject([
      {
        name: "site",
        privacy: "public",
        type: "http",
        code: "export default () => new Response()\n",
        readme: "# Site\n",
        version: 1,
      },
    ])
    expect(await ada.print(["val", "new", "-f", "-"], { input: "1" })).toMatch(
      /^new1\/[a-zA-Z]\w+@1\n$/,
    )
  })

  test("new refuses taken and invalid names, empty code, a missing file and invalid settings", async () => {
    const ada = await stage().person("new2")
    await ada.client.createVal({ name: "taken", code: "1" })
    expect(await ada.hamlet(["val", "new", "Taken"], { input: "1" })).toMatchObject({
      exit: 5,
      stdout: "",
      stderr: expect.stringContaining("choose another"),
    })
    expect((await ada.hamlet(["val", "new", "no name"], { input: "1" })).exit).toBe(2)
    expect((await ada.hamlet(["val", "new", "empty"], { input: "" })).exit).toBe(2)
    expect(await ada.hamlet(["val", "new", "x", "-f", "gone.ts"])).toMatchObject({
      exit: 4,
      stderr: expect.stringContaining('"gone.ts"'),
    })
    expect((await ada.hamlet(["val", "new", "x", "--type", "cron"], { input: "1" })).exit).toBe(2)
    expect(
      (await ada.hamlet(["val", "new", "x"], { input: "// hamlet: colour=red\n1" })).exit,
    ).toBe(2)
  })

  test("list shows the user's, another user's or all vals, up to the limit, and notes when there are more", async () => {
    const [ada, bob] = [await stage().person("list1"), await stage().person("list2")]
    for (const name of ["one", "two", "three"])
      await ada.client.createVal({
        name,
        code: name,
        privacy: name === "two" ? "public" : "private",
      })

    expect(
      (await ada.print(["val", "list"])).split("\n").map((line) => line.split("\t").slice(0, 5)),
    ).toEqual([
      ["list1/three", "1", "script", "private", "0"],
      ["list1/two", "1", "script", "public", "0"],
      ["list1/one", "1", "script", "private", "0"],
      [""],
    ])
    expect((await bob.json(["val", "list", "list1"])).map(({ name }) => name)).toEqual(["two"])
    expect(
      (await bob.json(["val", "list", "--everybody", "-n", "1"])).map(
        ({ author }) => author.username,
      ),
    ).toEqual(["list1"])
    expect(await bob.print(["val", "list"])).toBe("")
    expect(
      (await ada.json(["val", "list", "--privacy", "private"])).map(({ name }) => name),
    ).toEqual(["three", "one"])
    expect(await ada.hamlet(["val", "list", "-n", "2"])).toMatchObject({
      exit: 0,
      stdout: expect.stringMatching(/^(.+\n){2}$/),
      stderr: expect.stringContaining("--all"),
    })
    expect(await ada.hamlet(["val", "list", "-n", "3"])).toMatchObject({ exit: 0, stderr: "" })
    expect((await ada.json(["val", "list", "--all"])).length).toBe(3)
    expect((await ada.hamlet(["val", "list", "nobody_at_all"])).exit).toBe(4)
    for (const limit of ["0", "x"])
      expect((await ada.hamlet(["val", "list", "--limit", limit])).exit).toBe(2)
  })

  describe("show", () => defineShow(stage))
  describe("edit", () => defineEdit(stage))
  describe("commands that change a val", () => defineChanges(stage))
})

function defineShow(stage: () => Stage): void {
  test("finds a val by name, owner and name, version, id and every address", async () => {
    const ada = await stage().person("show1")
    await ada.client.createVal({
      name: "Hello",
      code: "first\n",
      privacy: "public",
      type: "http",
      readme: "# Read me",
    })
    const val = await ada.client.saveVal({ name: "Hello", code: "second" })
    const { origin } = new URL(stage().url)
    const names = [
      "Hello",
      "hello",
      "show1/Hello",
      "@show1/hello",
      val.id,
      val.url,
      val.links.module,
      `${val.links.endpoint}/x?y=1`,
      val.links.self,
    ]
    const many = await Promise.all(names.map((name) => ada.json(["val", "show", name])))
    expect(many.map(([shown]) => [shown.id, shown.version])).toEqual(names.map(() => [val.id, 2]))
    const old = [
      "Hello@1",
      "show1/hello@1",
      `${val.links.module}@1`,
      `${origin}/v1/vals/${val.id}/versions/1`,
    ]
    for (const name of old) expect(await ada.print(["val", "show", name, "--code"])).toBe("first\n")
    expect(await ada.print(["val", "show", "hello", "--readme"])).toBe("# Read me")
    expect(await ada.print(["val", "show", "hello"])).toContain(
      `val\tshow1/Hello\nversion\t2\ntype\thttp\nprivacy\tpublic\n`,
    )
  })

  test("reports invalid names and missing vals", async () => {
    const ada = await stage().person("show2")
    const val = await ada.client.createVal({ name: "hello", code: "1", privacy: "public" })
    const table: readonly (readonly [name: string, exit: number])[] = [
      ["nothing", 4],
      ["hello@7", 4],
      ["http://vals.example/v/show2/hello", 4],
      [`${stage().url}/docs`, 2],
      ["", 2],
    ]
    for (const [name, exit] of table)
      expect([name, await ada.hamlet(["val", "show", name])]).toEqual([
        name,
        expect.objectContaining({
          exit,
          stdout: "",
          stderr: expect.stringMatching(/^Cannot .+\n$/),
        }),
      ])
    expect((await ada.hamlet(["val", "show", "hello", "--readme"])).exit).toBe(4)
    await ada.client.updateVal({ val_id: val.id, privacy: "private" })
    expect(
      (await (await stage().person("show3")).hamlet(["val", "show", "show2/hello"])).exit,
    ).toBe(4)
  })
}

function defineEdit(stage: () => Stage): void {
  /** An editor that is a shell script; the file is "$1". */
  const editor = (ada: Person, script: string) => {
    const path = join(ada.folder, `editor-${Bun.randomUUIDv7()}`)
    writeFileSync(path, `#!/bin/sh\n${script}\n`)
    chmodSync(path, 0o755)
    return { EDITOR: path }
  }

  test("opens the editor and saves the edited code; VISUAL takes precedence, and may have arguments", async () => {
    const ada = await stage().person("edit1")
    await ada.client.createVal({ name: "hello", code: "one\n" })
    expect(
      await ada.print(["val", "edit", "hello"], { env: editor(ada, 'echo two >> "$1"') }),
    ).toBe("edit1/hello@2\n")
    expect((await ada.client.getValByName({ username: "edit1", val_name: "hello" })).code).toBe(
      "one\ntwo\n",
    )
    expect(
      await ada.print(["val", "edit", "hello"], {
        env: { EDITOR: "false", VISUAL: "sed -i s/two/three/" },
      }),
    ).toBe("edit1/hello@3\n")
    expect(
      await ada.print(["val", "edit", "hello", "--readme"], {
        env: editor(ada, 'echo "# Hello" > "$1"'),
      }),
    ).toBe("edit1/hello@4\n")
    expect(await ada.json(["val", "show", "hello"])).toMatchObject([
      { code: "one\nthree\n", readme: "# Hello\n", version: 4 },
    ])
    expect(
      await ada.json(["val", "edit", "hello", "--privacy", "public", "--type", "http"]),
    ).toMatchObject([{ privacy: "public", type: "http" }])
    expect(await ada.json(["val", "show", "hello"])).toMatchObject([
      { privacy: "public", type: "http", public: true },
    ])
  })

  test("keeps the edited text and prints its path when the val has changed meanwhile", async () => {
    const ada = await stage().person("edit2")
    await ada.client.createVal({ name: "hello", code: "one" })
    const theirs = `curl -s -X PUT ${stage().url}/v1/vals -H "authorization: Bearer ${ada.token}" -d '{"name":"hello","code":"theirs"}' > /dev/null`
    const ended = await ada.hamlet(["val", "edit", "hello"], {
      env: editor(ada, `${theirs}\nprintf mine > "$1"`),
    })
    const [, path = ""] = /^Your text is in "(.+)"\nCannot .+\n$/.exec(ended.stderr) ?? []
    expect([ended.exit, ended.stdout]).toEqual([5, ""])
    expect(readFileSync(path, "utf8")).toBe("mine")
    expect((await ada.client.getValByName({ username: "edit2", val_name: "hello" })).code).toBe(
      "theirs",
    )
  })

  test("prints the version that this save has made, while others save too", async () => {
    const ada = await stage().person("edit5")
    const { id: val_id } = await ada.client.createVal({ name: "hello", code: "one" })
    await using gate = openGate(stage().url)
    const edit = async (args: readonly string[], more: Record<string, string> = {}) => {
      const answer = gate.hold(/^(PUT|POST) \/v1\/vals\//, "after")
      const env = { HAMLET_URL: gate.url, HAMLET_TOKEN: ada.token, ...more }
      const printed = ada.print(["val", "edit", "hello", ...args], { env })
      await answer.isHeld
      await ada.client.createVersion({ val_id, code: Bun.randomUUIDv7() })
      answer.release()
      return await printed
    }
    const write = editor(ada, 'echo "# Hello" > "$1"')
    expect(await edit(["--readme"], write)).toBe("edit5/hello@2\n")
    expect(await edit(["--type", "http"])).toBe("edit5/hello@4\n")
    expect(await edit([], write)).toBe("edit5/hello@6\n")
    expect(await ada.client.getVal({ val_id })).toMatchObject({ version: 7, type: "http" })
  })

  test("changes settings of a val that others save, and keeps a readme edited meanwhile", async () => {
    const ada = await stage().person("edit6")
    const { id: val_id } = await ada.client.createVal({ name: "hello", code: "one" })
    await using gate = openGate(stage().url)
    const asked = gate.hold(/^POST \/v1\/vals\//, "before")
    const env = { HAMLET_URL: gate.url, HAMLET_TOKEN: ada.token }
    const printed = ada.print(["val", "edit", "hello", "--privacy", "public"], { env })
    await asked.isHeld
    await ada.client.createVersion({ val_id, code: "theirs" })
    asked.release()
    expect(await printed).toBe("edit6/hello@2\n")
    expect(await ada.client.getVal({ val_id })).toMatchObject({ code: "theirs", privacy: "public" })
    const theirs = `curl -s -X PUT ${stage().url}/v1/vals/${val_id} -H "authorization: Bearer ${ada.token}" -d '{"readme":"theirs"}' > /dev/null`
    const ended = await ada.hamlet(["val", "edit", "hello", "--readme"], {
      env: editor(ada, `${theirs}\nprintf mine > "$1"`),
    })
    expect([ended.exit, ended.stderr]).toEqual([5, expect.stringContaining("Your text is in")])
    expect((await ada.client.getVal({ val_id })).readme).toBe("theirs")
  })

  test("saves nothing when nothing was changed, or when the editor failed", async () => {
    const ada = await stage().person("edit3")
    await ada.client.createVal({ name: "hello", code: "one" })
    const temporary = { TMPDIR: join(ada.folder, "tmp") }
    await Bun.$`mkdir ${temporary.TMPDIR}`
    expect(
      await ada.hamlet(["val", "edit", "hello"], { env: { EDITOR: "true", ...temporary } }),
    ).toMatchObject({
      exit: 1,
      stderr: "No changes to edit3/hello\n",
    })
    expect(
      await ada.hamlet(["val", "edit", "hello"], { env: { EDITOR: "false", ...temporary } }),
    ).toMatchObject({
      exit: 1,
      stderr: expect.stringContaining("EDITOR"),
    })
    expect(
      await Array.fromAsync(new Bun.Glob("**").scan({ cwd: temporary.TMPDIR, dot: true })),
    ).toEqual([])
    const failing = await ada.hamlet(["val", "edit", "hello"], {
      env: { ...editor(ada, 'printf half > "$1"; exit 3'), ...temporary },
    })
    expect(readFileSync(/in "(.+)"/.exec(failing.stderr)?.[1] ?? "", "utf8")).toBe("half")
    expect((await ada.hamlet(["val", "edit", "hello@1"], { env: { EDITOR: "true" } })).exit).toBe(2)
    expect((await ada.client.getValByName({ username: "edit3", val_name: "hello" })).version).toBe(
      1,
    )
  })

  test("new opens the editor at a terminal", async () => {
    const ada = await stage().person("edit4")
    await using made = ada.atTerminal(["val", "new", "written"], {
      env: editor(ada, 'grep -q Hello "$1" && echo "export default 1" > "$1"'),
    })
    const { exit, stdout } = await made.ended()
    expect([exit, stdout]).toEqual([0, expect.stringContaining("Created edit4/written@1")])
    expect((await ada.client.getValByName({ username: "edit4", val_name: "written" })).code).toBe(
      "export default 1\n",
    )
  })
}

function defineChanges(stage: () => Stage): void {
  test("rename changes the name, and refuses a taken one", async () => {
    const ada = await stage().person("rename1")
    await ada.client.createVal({ name: "one", code: "1" })
    await ada.client.createVal({ name: "two", code: "1" })
    expect(await ada.print(["val", "rename", "one", "three"])).toBe("rename1/three\n")
    expect((await ada.hamlet(["val", "show", "one"])).exit).toBe(4)
    expect(await ada.hamlet(["val", "rename", "three", "TWO"])).toMatchObject({
      exit: 5,
      stdout: "",
    })
    expect(await ada.json(["val", "rename", "three", "one"])).toMatchObject([{ name: "one" }])
  })

  test("rm needs --yes in a pipe, deletes several, and continues after a missing one", async () => {
    const ada = await stage().person("rm1")
    for (const name of ["one", "two", "three"]) await ada.client.createVal({ name, code: "1" })
    expect(await ada.hamlet(["val", "rm", "one"], { input: "y\n" })).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("--yes"),
    })
    expect(await ada.hamlet(["val", "rm", "one", "zero", "two", "--yes"])).toMatchObject({
      exit: 4,
      stdout: "rm1/one\nrm1/two\n",
    })
    expect(
      (await ada.client.listVals({ userId: (await ada.client.getMe()).id })).data.map(
        ({ name }) => name,
      ),
    ).toEqual(["three"])
    expect(await ada.json(["val", "rm", "three", "-y"])).toMatchObject([
      { name: "three", username: "rm1", deleted: true },
    ])
  })

  test("rm asks at a terminal, and only yes confirms", async () => {
    const ada = await stage().person("rm2")
    await ada.client.createVal({ name: "hello", code: "1" })
    for (const [answer, exit] of [
      ["\n", 1],
      ["no\n", 1],
      ["\x03", 130],
      ["y\n", 0],
    ] as const) {
      await using asked = ada.atTerminal(["val", "rm", "hello"])
      await asked.waitFor(/Delete rm2\/hello .+\[y\/N\] /)
      asked.type(answer)
      expect([answer, (await asked.ended()).exit]).toEqual([answer, exit])
    }
    expect((await ada.hamlet(["val", "show", "hello"])).exit).toBe(4)
  })

  test("refuses to change vals of other users", async () => {
    const [ada, bob] = [await stage().person("mine1"), await stage().person("mine2")]
    await ada.client.createVal({ name: "hello", code: "1", privacy: "public" })
    for (const args of [
      ["val", "rename", "mine1/hello", "x"],
      ["val", "rm", "mine1/hello", "--yes"],
      ["version", "rm", "mine1/hello@1", "--yes"],
    ])
      expect(await bob.hamlet(args)).toMatchObject({
        exit: 3,
        stdout: "",
        stderr: expect.stringMatching(/^Cannot .+\n$/),
      })
    expect(
      (await bob.hamlet(["val", "edit", "mine1/hello"], { env: { EDITOR: "sed -i s/1/2/" } })).exit,
    ).toBe(3)
  })

  test("fork copies a val or a version of it, and forks lists the copies", async () => {
    const [ada, bob] = [await stage().person("fork1"), await stage().person("fork2")]
    const { id } = await ada.client.createVal({ name: "hello", code: "1", privacy: "public" })
    await ada.client.createVersion({ val_id: id, code: "2" })
    expect(await bob.print(["val", "fork", "fork1/hello"])).toBe("fork2/hello@1\n")
    expect(
      await bob.json(["val", "fork", "fork1/hello@1", "--name", "old", "--privacy", "public"]),
    ).toMatchObject([
      { name: "old", code: "1", privacy: "public", forkedFrom: { name: "hello", version: 1 } },
    ])
    expect(await bob.hamlet(["val", "fork", "fork1/hello", "--name", "old"])).toMatchObject({
      exit: 5,
      stderr: expect.stringContaining("you already have a val with that name"),
    })
    expect((await bob.hamlet(["val", "fork", "fork1/nothing"])).exit).toBe(4)
    const names = async (person: Person) =>
      (await person.json(["val", "forks", "fork1/hello"])).map(({ name }) => name)
    expect(await names(ada)).toEqual(["old"])
    expect(await names(bob)).toEqual(["old", "hello"])
    const shown = await bob.print(["val", "show", "old"])
    expect(shown).toContain("fork of\tfork1/hello@1\n")
    expect(await ada.print(["val", "show", "hello"])).toContain("forks\t1\n")
  })

  test("search finds by code, and like counts once until it is removed", async () => {
    const [ada, bob] = [await stage().person("like1"), await stage().person("like2")]
    await ada.client.createVal({
      name: "hello",
      code: "export const unmistakable = 7",
      privacy: "public",
    })
    expect(await bob.print(["val", "search", "unmistakable", "=", "7"])).toStartWith(
      "like1/hello\t1\t",
    )
    expect((await bob.json(["val", "search", "UNMISTAKABLE"])).map(({ name }) => name)).toEqual([
      "hello",
    ])
    expect(await bob.print(["val", "search", "no such thing anywhere"])).toBe("")
    expect(await bob.print(["val", "like", "like1/hello"])).toBe("like1/hello\n")
    expect(await bob.json(["val", "like", "like1/hello"])).toMatchObject([{ likeCount: 1 }])
    expect(await bob.json(["val", "like", "like1/hello", "--undo"])).toMatchObject([
      { likeCount: 0 },
    ])
  })

  test("open prints addresses in a pipe, and calls the browser at a terminal", async () => {
    const ada = await stage().person("open1")
    const val = await ada.client.createVal({
      name: "web",
      code: "1",
      type: "http",
      privacy: "public",
    })
    expect(await ada.print(["val", "open", "web"])).toBe(`${val.links.endpoint}\n`)
    expect(await ada.print(["val", "open", "web", "--page"])).toBe(`${val.url}\n`)
    expect(await ada.json(["val", "open", "web", "--module"])).toEqual([{ url: val.links.module }])
    const browser = join(ada.folder, "browser")
    writeFileSync(
      browser,
      `#!/bin/sh\nprintf %s "$1" > ${ada.folder}/opened.tmp && mv ${ada.folder}/opened.tmp ${ada.folder}/opened\n`,
    )
    chmodSync(browser, 0o755)
    await using opened = ada.atTerminal(["val", "open", "web"], { env: { BROWSER: browser } })
    expect((await opened.ended()).exit).toBe(0)
    await until(() => existsSync(join(ada.folder, "opened")), "the browser to be opened")
    expect(readFileSync(join(ada.folder, "opened"), "utf8")).toBe(val.links.endpoint ?? "")
    await using failing = ada.atTerminal(["val", "open", "web"], {
      env: { BROWSER: "no-such-browser" },
    })
    expect(await failing.ended()).toMatchObject({
      exit: 1,
      stdout: expect.stringContaining("its URL is"),
    })
  })

  test("ref list shows references to all vals and to one val, and the dependencies of one val", async () => {
    const [ada, bob] = [await stage().person("ref1"), await stage().person("ref2")]
    const { links } = await ada.client.createVal({
      name: "library",
      code: "export const x = 1",
      privacy: "public",
    })
    await bob.client.createVal({
      name: "user",
      code: `export { x } from "${links.module}"`,
      privacy: "public",
    })
    expect(await ada.print(["ref", "list"])).toStartWith("ref2/user\tref1/library\t")
    expect(
      (await bob.json(["ref", "list", "ref1/library"])).map(({ reference }) => reference.name),
    ).toEqual(["user"])
    expect(
      (await bob.json(["ref", "list", "user", "--dependencies"])).map(
        ({ dependsOn }) => dependsOn.name,
      ),
    ).toEqual(["library"])
    expect(await bob.print(["ref", "list"])).toBe("")
    expect((await bob.hamlet(["ref", "list", "--dependencies"])).exit).toBe(2)
  })
}
