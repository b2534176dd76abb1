import { describe, expect, test } from "bun:test"
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { list, listTrash, read, write } from "../support/folder.ts"
import { openGate } from "../support/gate.ts"
import oldFolder from "../support/old-folder.json"
import { useStage } from "../support/shared-stage.ts"
import type { Person, Stage } from "../support/stage.ts"
import { readTree, readVal, saveFiles } from "../support/trees.ts"

/*
 * old-folder.json is what `hamlet val watch --once` of version 0.3.0 wrote for the vals below, which had
 * one file each; ids and the address of the server are placeholders. The val `left` was kept when its
 * file was deleted, and `deep` was made from a file in a folder.
 */

const once = ["val", "watch", "--once"]
const convert = [...once, "--yes"]
const lines = "one\ntwo\nthree\n"
const vals = [
  { name: "hello", code: "one\n", readme: "# Hello\n" },
  { name: "page", code: "export default () => <p/>\n", type: "http" },
  { name: "clean", code: "clean\n" },
  { name: "merged", code: lines },
  { name: "clash", code: "one\n" },
  { name: "gone", code: "one\n" },
  { name: "left", code: "one\n" },
  { name: "several", code: "one\n" },
  { name: "deep", code: "deep\n" },
] as const

type Owner = Person & { readonly ids: Readonly<Record<string, string>> }

/** A user with these vals, and the folder that the older version had made of them. */
async function withOldFolder(stage: Stage, username: string, url = stage.url): Promise<Owner> {
  const ada = await stage.person(username)
  const ids: Record<string, string> = {}
  for (const val of vals) ids[val.name] = (await ada.client.createVal(val)).id
  await saveFiles(ada, ids.several ?? "", { "lib.ts": "lib\n" })
  const places = { ...ids, url, owner: (await ada.client.getMe()).id, username }
  writeOldFolder(ada, places)
  return { ...ada, ids }
}

function writeOldFolder({ folder }: Person, places: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(oldFolder)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    const filled = text.replaceAll(/\{\{(\w+)\}\}/g, (_, name) => places[name] ?? "")
    writeFileSync(join(folder, path), filled)
  }
}

const find = (person: Person, name: string) =>
  person.client.getValByName({ username: person.username, val_name: name })
const headOf = (name: string) => `// hamlet: name=${name} privacy=private type=script\n`

/** Changes both sides, as people may have done while nothing watched the folder. */
async function changeBoth(ada: Owner): Promise<void> {
  write(ada, "hello.ts", `${headOf("hello")}mine\n`)
  write(ada, "hello.ts.README.md", "# Mine\n")
  write(ada, "page.tsx", read(ada, "page.tsx").replace("privacy=private", "privacy=public"))
  write(ada, "merged.ts", `${headOf("merged")}mine\ntwo\nthree\n`)
  await saveFiles(ada, ada.ids.merged ?? "", { "main.tsx": "one\ntwo\ntheirs\n" })
  write(ada, "clash.ts", `${headOf("clash")}mine\n`)
  await saveFiles(ada, ada.ids.clash ?? "", { "main.tsx": "theirs\n" })
  write(ada, "gone.ts", `${headOf("gone")}mine\n`)
  await ada.client.deleteVal({ val_id: ada.ids.gone ?? "" })
  write(ada, "new.ts", "// hamlet: privacy=unlisted type=http\nnew\n")
  write(ada, "types.d.ts", "left alone\n")
}

/** Checks that all of these changes are where they belong. */
async function expectConverted(ada: Owner): Promise<void> {
  expect(list(ada)).toEqual([
    "clash",
    "clean",
    "deep",
    "gone.conflict-1.ts",
    "hello",
    "in",
    "merged",
    "new",
    "page",
    "several",
    "types.d.ts",
  ])
  const tree = readTree(ada.folder)
  expect(tree).toMatchObject({
    "clash/main.tsx": "theirs\n",
    "clash/main.conflict-1.tsx": "mine\n",
    "clean/main.tsx": "clean\n",
    "deep/main.tsx": "deep\n",
    "gone.conflict-1.ts": `${headOf("gone")}mine\n`,
    "hello/main.tsx": "mine\n",
    "hello/README.md": "# Mine\n",
    "merged/main.tsx": "mine\ntwo\ntheirs\n",
    "new/main.tsx": "new\n",
    "several/lib.ts": "lib\n",
  })
  expect(await find(ada, "hello")).toMatchObject({ code: "mine\n", readme: "# Mine\n" })
  expect(await find(ada, "page")).toMatchObject({ privacy: "public", type: "http" })
  expect(await find(ada, "new")).toMatchObject({ privacy: "unlisted", type: "http" })
  for (const { id, name } of (await ada.client.listMyValStates()).data) {
    if (name === "left") continue
    const saved = await readVal(ada, id)
    expect(readTree(join(ada.folder, name))).toMatchObject(saved)
  }
  expect(listTrash(ada)).toEqual([
    "clash.ts",
    "clean.ts",
    "gone.ts",
    "hello.ts",
    "hello.ts.README.md",
    "in-deep.ts",
    "merged.ts",
    "new.ts",
    "page.tsx",
  ])
  expect(await ada.hamlet(once)).toEqual({ exit: 0, stdout: "", stderr: "" })
  // The val whose file was deleted before is still left alone, until it changes.
  await ada.client.saveVal({ name: "left", code: "two\n" })
  expect(await ada.print(once)).toBe("wrote\tleft/main.tsx\tleft@2\t\n")
}

describe("val watch, in a folder of an older version", () => {
  const stage = useStage()

  test("asks before it converts: without an answer nothing changes", async () => {
    const ada = await withOldFolder(stage(), "old1")
    const before = readTree(ada.folder)
    expect(await ada.hamlet(once)).toEqual({
      exit: 2,
      stdout: "",
      stderr:
        'Cannot use "." yet: 7 files in it must be converted, because each val has a folder now; convert them with "--yes", which moves them to .hamlet/trash, or list what is no val in .hamletignore\n',
    })
    expect(await ada.print([...once, "--dry-run"])).toContain("trashed\tclash.ts\t\t\n")
    await using asked = ada.atTerminal(["val", "watch", "."])
    await asked.waitFor(/Convert 7 files in "\."/)
    asked.type("n\n")
    expect((await asked.ended()).exit).toBe(1)
    expect([readTree(ada.folder), (await find(ada, "hello")).version]).toEqual([before, 1])

    await using answered = ada.atTerminal(["val", "watch", "."])
    await answered.waitFor(/Convert 7 files in "\."/)
    answered.type("y\n")
    await answered.waitFor(/Watching/)
    answered.type("\x03")
    await answered.ended()
    expect(list(ada)).toEqual([
      "clash",
      "clean",
      "deep",
      "gone",
      "hello",
      "in",
      "merged",
      "page",
      "several",
    ])
    expect(readTree(join(ada.folder, "hello"))).toEqual({
      "README.md": "# Hello\n",
      "main.tsx": "one\n",
    })
    expect((await find(ada, "hello")).version).toBe(1)
  })

  test("keeps what was not saved: it is merged and saved from the new folders", async () => {
    const ada = await withOldFolder(stage(), "old2")
    await changeBoth(ada)
    const { exit, stderr } = await ada.hamlet(convert)
    expect(exit).toBe(5)
    expect(stderr).toBe(
      [
        'Cannot save "gone.ts": the val was deleted; its text is in "gone.conflict-1.ts"',
        'clash: Cannot save "main.tsx": both the file and the val have changed; the file now has version 2 of clash, and its previous text is in "main.conflict-1.tsx"',
        "",
      ].join("\n"),
    )
    await expectConverted(ada)
  })

  test("goes on after it was killed at any request", async () => {
    const ada = await withOldFolder(stage(), "old3", "http://placeholder.test")
    await using gate = openGate(stage().url)
    const env = { HAMLET_URL: gate.url, HAMLET_TOKEN: ada.token }
    const state = join(ada.folder, ".hamlet/state.json")
    const nested = join(ada.folder, "several/.hamlet/state.json")
    for (const path of [state, nested])
      writeFileSync(
        path,
        readFileSync(path, "utf8").replaceAll("http://placeholder.test", gate.url),
      )
    await changeBoth(ada)
    const requests = [
      [/^GET \/v1\/vals\/[^/]+$/, "after"],
      [/^GET .+content/, "before"],
      [/^PUT \/v1\/vals\//, "after"],
      [/^POST \/v1\/vals$/, "after"],
      [/^GET .+content/, "after"],
    ] as const
    for (const [request, point] of requests) {
      const held = gate.hold(request, point)
      await using converting = ada.start(convert, { env })
      await held.isHeld
      converting.signal("SIGKILL")
      await converting.ended()
      held.drop()
    }
    expect((await ada.hamlet(convert, { env })).exit).toBe(5)
    await expectConverted({
      ...ada,
      hamlet: (args) => ada.hamlet(args, { env }),
      print: (args) => ada.print(args, { env }),
    })
  })

  test("goes on with a file whose folder was complete: another text becomes a conflict file", async () => {
    const ada = await withOldFolder(stage(), "old4")
    const state = read(ada, ".hamlet/state.json")
    await ada.print(convert)
    write(ada, ".hamlet/state.json", state)
    write(ada, "clean.ts", `${headOf("clean")}clean\n`)
    write(ada, "hello.ts", `${headOf("hello")}mine\n`)
    rmSync(join(ada.folder, "page"), { recursive: true })
    expect(await ada.hamlet(convert)).toMatchObject({
      exit: 5,
      stderr: expect.stringContaining('its text is in "hello/main.conflict-1.tsx"'),
    })
    expect(readTree(join(ada.folder, "hello"))).toEqual({
      "README.md": "# Hello\n",
      "main.tsx": "one\n",
      "main.conflict-1.tsx": "mine\n",
    })
    expect(readTree(join(ada.folder, "clean"))).toEqual({ "main.tsx": "clean\n" })
    expect((await ada.hamlet(once)).exit).toBe(0)
  })

  test("goes on only when all files are converted", async () => {
    const ada = await withOldFolder(stage(), "old5")
    write(ada, "bad.ts", "// hamlet: privacy=secret\n1")
    write(ada, "clash.ts", new Uint8Array([0xff]))
    const { exit, stderr } = await ada.hamlet(convert)
    expect(exit).toBe(1)
    expect(stderr).toContain('Cannot read the first line of "bad.ts": "secret" is not a valid')
    expect(stderr).toContain('clash.ts": it is not UTF-8 text')
    expect(list(ada)).toContain("hello")
    write(ada, "clash.ts", `${headOf("clash")}one\n`)
    write(ada, ".hamletignore", "bad.ts\n")
    await ada.print(convert)
    expect([list(ada).includes("clash.ts"), list(ada).includes("bad.ts")]).toEqual([false, true])
  })

  test("converts files without a record, as in a fresh checkout of Git", async () => {
    const ada = await withOldFolder(stage(), "old6")
    rmSync(join(ada.folder, ".hamlet"), { recursive: true })
    write(ada, "hello.ts", `${headOf("hello")}mine\n`)
    expect((await ada.hamlet(convert)).exit).toBe(5)
    expect(readTree(join(ada.folder, "hello"))).toEqual({
      "README.md": "# Hello\n",
      "main.tsx": "one\n",
      "main.conflict-1.tsx": "mine\n",
    })
    expect((await find(ada, "clean")).version).toBe(1)
    expect((await ada.hamlet(once)).exit).toBe(0)
  })

  test("clone converts too, also the vals of another user", async () => {
    const [ada, bob] = [await withOldFolder(stage(), "old7"), await stage().person("old8")]
    for (const { id } of (await ada.client.listMyValStates()).data)
      await ada.client.updateVal({ val_id: id, privacy: "public" })
    const places = { ...ada.ids, url: stage().url, owner: "", username: "old7" }
    writeOldFolder(bob, { ...places, owner: (await ada.client.getMe()).id })
    write(bob, "hello.ts", `${headOf("hello")}mine\n`)
    expect((await bob.hamlet(["val", "clone", "old7", "."])).exit).toBe(2)
    await bob.print(["val", "clone", "old7", ".", "--yes"])
    expect(read(bob, "hello/main.tsx")).toBe("mine\n")
    expect(list(bob)).toContain("left")
  })
})
