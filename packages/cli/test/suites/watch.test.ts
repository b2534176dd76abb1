import { describe, expect, test } from "bun:test"
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { limits } from "../../src/limits.ts"
import { list, listTrash, read, write } from "../support/folder.ts"
import { openGate } from "../support/gate.ts"
import { useStage } from "../support/shared-stage.ts"
import type { Person, Stage } from "../support/stage.ts"
import { until } from "../support/until.ts"

const once = ["val", "watch", "--once"]
const find = (person: Person, name: string) =>
  person.client.getValByName({ username: person.username, val_name: name })
const names = async (person: Person) =>
  (await person.client.listMyValStates()).data.map(({ name }) => name)

/** A user with a val `hello` and its file. */
async function withHello(
  stage: Stage,
  username: string,
): Promise<Person & { readonly id: string }> {
  const person = await stage.person(username)
  const { id } = await person.client.createVal({ name: "hello", code: "one\n" })
  await person.print(once)
  return { ...person, id }
}

const head = "// hamlet: name=hello privacy=private type=script\n"

describe("val watch", () => {
  const stage = useStage()

  test("watch --once creates files from vals and vals from files, and then finds nothing to do", async () => {
    const ada = await stage().person("once1")
    await ada.client.createVal({ name: "remote", code: "r\n", type: "http" })
    mkdirSync(join(ada.folder, "in"))
    write(ada, "local.ts", "l\n")
    write(ada, "in/other.tsx", "// hamlet: name=page privacy=public\n<p/>\n")
    const plan = await ada.print([...once, "--dry-run"])
    expect([list(ada), existsSync(join(ada.folder, ".hamlet"))]).toEqual([
      ["in", "local.ts"],
      false,
    ])
    expect(await names(ada)).toEqual(["remote"])
    expect(plan).toBe(
      "created\tin/other.tsx\tpage\t\ncreated\tlocal.ts\tlocal\t\nwrote\tremote.ts\tremote@1\t\n",
    )

    expect(await ada.json(once)).toEqual([
      {
        at: expect.any(String),
        action: "created",
        file: "in/other.tsx",
        val: { id: expect.any(String), name: "page", version: 1 },
      },
      expect.objectContaining({ action: "created", file: "local.ts" }),
      expect.objectContaining({ action: "wrote", file: "remote.ts" }),
    ])
    expect(read(ada, "remote.ts")).toBe("// hamlet: name=remote privacy=private type=http\nr\n")
    expect(await find(ada, "page")).toMatchObject({
      code: "<p/>\n",
      privacy: "public",
      type: "script",
    })
    expect([read(ada, "local.ts"), await ada.print(once)]).toEqual(["l\n", ""])
  })

  test("watch --once copies each change to the other side: code, name, privacy, type", async () => {
    const ada = await withHello(stage(), "once2")
    write(ada, "hello.ts", "// hamlet: name=hello privacy=public\ntwo\n")
    expect(await ada.print(once)).toBe("saved\thello.ts\thello@2\t\n")
    expect(await find(ada, "hello")).toMatchObject({
      id: ada.id,
      code: "two\n",
      privacy: "public",
      type: "script",
    })

    await ada.client.updateVal({
      val_id: ada.id,
      privacy: "unlisted",
      type: "http",
      readme: "beside the file",
    })
    expect(await ada.print(once)).toBe(
      "wrote\thello.ts\thello@3\t\nwrote\thello.ts.README.md\thello@3\t\n",
    )
    expect(read(ada, "hello.ts")).toBe("// hamlet: name=hello privacy=unlisted\ntwo\n")

    await ada.client.updateVal({ val_id: ada.id, name: "greet" })
    expect(await ada.print(once)).toBe("renamed\tgreet.ts\tgreet@3\thello.ts\n")
    expect([list(ada), read(ada, "greet.ts")]).toEqual([
      ["greet.ts", "greet.ts.README.md"],
      "// hamlet: name=greet privacy=unlisted\ntwo\n",
    ])

    renameSync(join(ada.folder, "greet.ts"), join(ada.folder, "welcome.ts"))
    expect(await ada.print(once)).toBe("renamed\twelcome.ts\twelcome@3\tgreet\n")
    expect(read(ada, "welcome.ts")).toStartWith("// hamlet: name=welcome privacy=unlisted\n")
    expect(await ada.client.getVal({ val_id: ada.id })).toMatchObject({
      name: "welcome",
      version: 3,
    })

    mkdirSync(join(ada.folder, "in"))
    renameSync(join(ada.folder, "welcome.ts"), join(ada.folder, "in/welcome.tsx"))
    expect(await ada.print(once)).toBe("moved\tin/welcome.tsx\twelcome@3\twelcome.ts\n")
    for (const version of [3, 2]) await ada.client.deleteVersion({ val_id: ada.id, version })
    expect(await ada.print(once)).toStartWith("wrote\tin/welcome.tsx\twelcome@1\t\n")
    expect(read(ada, "in/welcome.tsx")).toEndWith("\none\n")
    // The first version had no readme.
    expect([list(ada), readdirSync(join(ada.folder, "in"))]).toEqual([["in"], ["welcome.tsx"]])
  })

  test("independent changes of both sides are both kept", async () => {
    const ada = await withHello(stage(), "merge1")
    write(ada, "hello.ts", `${head}mine\n`)
    await ada.client.updateVal({ val_id: ada.id, privacy: "public" })
    expect(await ada.print(once)).toBe("saved\thello.ts\thello@2\t\nwrote\thello.ts\thello@2\t\n")
    expect(read(ada, "hello.ts")).toBe("// hamlet: name=hello privacy=public type=script\nmine\n")
    expect(await find(ada, "hello")).toMatchObject({ code: "mine\n", privacy: "public" })

    write(ada, "hello.ts", "// hamlet: name=hello privacy=public type=http\nmine\n")
    await ada.client.saveVal({ name: "hello", code: "theirs\n" })
    expect((await ada.hamlet(once)).exit).toBe(0)
    expect(read(ada, "hello.ts")).toBe("// hamlet: name=hello privacy=public type=http\ntheirs\n")
    expect(await find(ada, "hello")).toMatchObject({ code: "theirs\n", type: "http" })
  })

  test("a conflict keeps both sides and reports it; the same change on both sides is not a conflict", async () => {
    const ada = await withHello(stage(), "conflict1")
    write(ada, "hello.ts", `${head}mine\n`)
    await ada.client.saveVal({ name: "hello", code: "theirs\n" })
    expect(await ada.hamlet(once)).toEqual({
      exit: 5,
      stdout: "conflict\thello.ts\thello@2\thello.conflict-1.ts\n",
      stderr:
        'Cannot save "hello.ts": both the file and the val have changed; the file now has version 2 of hello, and its previous text is in "hello.conflict-1.ts"\n',
    })
    expect([read(ada, "hello.ts"), read(ada, "hello.conflict-1.ts")]).toEqual([
      `${head}theirs\n`,
      `${head}mine\n`,
    ])
    expect(await ada.hamlet(once)).toEqual({ exit: 0, stdout: "", stderr: "" })

    write(ada, "hello.ts", `${head}mine again\n`)
    await ada.client.saveVal({ name: "hello", code: "theirs again\n" })
    expect(await ada.hamlet([...once, "--dry-run"])).toMatchObject({
      exit: 5,
      stdout: "conflict\thello.ts\thello@3\t\n",
    })
    expect((await ada.hamlet(once)).exit).toBe(5)
    expect([list(ada), read(ada, "hello.conflict-2.ts")]).toEqual([
      ["hello.conflict-1.ts", "hello.conflict-2.ts", "hello.ts"],
      `${head}mine again\n`,
    ])

    for (const code of ["the same\n"]) {
      write(ada, "hello.ts", head + code)
      await ada.client.saveVal({ name: "hello", code })
    }
    expect(await ada.hamlet(once)).toEqual({ exit: 0, stdout: "", stderr: "" })
    write(ada, "new.ts", "mine\n")
    await ada.client.createVal({ name: "New", code: "theirs\n" })
    expect((await ada.hamlet(once)).exit).toBe(5)
    expect([read(ada, "new.conflict-1.ts"), (await find(ada, "new")).code]).toEqual([
      "mine\n",
      "theirs\n",
    ])
    expect((await ada.client.listVersions({ val_id: ada.id })).data).toHaveLength(4)
  })

  test("a change during synchronisation is a conflict too", async () => {
    const ada = await withHello(stage(), "race1")
    await using gate = openGate(stage().url)
    const env = { HAMLET_URL: gate.url, HAMLET_TOKEN: ada.token }
    await ada.print(once, { env })
    write(ada, "hello.ts", `${head}mine\n`)
    const saving = gate.hold(/^POST .+versions$/, "before")
    const first = ada.hamlet(once, { env })
    await saving.isHeld
    await ada.client.saveVal({ name: "hello", code: "theirs\n" })
    saving.release()
    expect((await first).exit).toBe(5)
    expect([read(ada, "hello.ts"), read(ada, "hello.conflict-1.ts")]).toEqual([
      `${head}theirs\n`,
      `${head}mine\n`,
    ])

    await ada.client.saveVal({ name: "hello", code: "theirs again\n" })
    const fetching = gate.hold(/^GET \/v1\/vals\/[^/]+$/, "after")
    const second = ada.hamlet(once, { env })
    await fetching.isHeld
    write(ada, "hello.ts", `${head}mine again\n`)
    fetching.release()
    expect((await second).exit).toBe(5)
    expect([read(ada, "hello.ts"), read(ada, "hello.conflict-2.ts")]).toEqual([
      `${head}theirs again\n`,
      `${head}mine again\n`,
    ])
    const codes = (await ada.client.listVersions({ val_id: ada.id })).data.map(({ code }) => code)
    expect(codes).toEqual(["theirs again\n", "theirs\n", "one\n"])
  })

  test("a deleted file does not delete its val, and comes back when the val changes or is pulled", async () => {
    const ada = await withHello(stage(), "left1")
    rmSync(join(ada.folder, "hello.ts"))
    expect(await ada.hamlet(once)).toEqual({
      exit: 0,
      stdout: "left\thello.ts\thello@1\t\n",
      stderr:
        '"hello.ts" was deleted and the val hello was kept; delete it with "hamlet val rm hello", or fetch it again with "hamlet val pull hello"\n',
    })
    expect(await ada.hamlet([...once, "--delete"])).toEqual({ exit: 0, stdout: "", stderr: "" })
    await ada.client.saveVal({ name: "hello", code: "two\n" })
    expect(await ada.print(once)).toBe("wrote\thello.ts\thello@2\t\n")
    rmSync(join(ada.folder, "hello.ts"))
    await ada.print(once)
    await ada.print(["val", "pull", "hello"])
    expect([read(ada, "hello.ts"), await ada.print(once)]).toEqual([`${head}two\n`, ""])
  })

  test("with --delete a deleted file deletes its val after saving its versions, unless the val has changed or too many files are gone", async () => {
    const ada = await withHello(stage(), "delete1")
    await ada.client.saveVal({ name: "hello", code: "two\n" })
    await ada.print(once)
    rmSync(join(ada.folder, "hello.ts"))
    expect(await ada.print([...once, "--delete"])).toMatch(
      /^deleted\thello.ts\thello@2\t.hamlet\/trash\/\S+\n$/,
    )
    expect([await names(ada), listTrash(ada)]).toEqual([[], ["hello@1.ts", "hello@2.ts"]])

    await ada.client.createVal({ name: "kept", code: "one\n" })
    await ada.print(once)
    rmSync(join(ada.folder, "kept.ts"))
    await ada.client.saveVal({ name: "kept", code: "two\n" })
    expect(await ada.print([...once, "--delete"])).toBe("wrote\tkept.ts\tkept@2\t\n")

    const many = Array.from({ length: 11 }, (_, index) => `many${index}.ts`)
    for (const path of many) write(ada, path, "1")
    await ada.print(once)
    for (const path of many) rmSync(join(ada.folder, path))
    await ada.print([...once, "--delete"])
    expect(await names(ada)).toHaveLength(12)
  })

  test("a deleted val moves its file to the trash, or to a conflict file if it has changed", async () => {
    const ada = await withHello(stage(), "gone1")
    await ada.client.deleteVal({ val_id: ada.id })
    expect(await ada.print(once)).toMatch(
      /^trashed\thello.ts\thello\t.hamlet\/trash\/\S+-hello.ts\n$/,
    )
    expect([list(ada), listTrash(ada)]).toEqual([[], ["hello.ts"]])

    const { id } = await ada.client.createVal({ name: "hello", code: "one\n" })
    await ada.print(once)
    write(ada, "hello.ts", `${head}mine\n`)
    await ada.client.deleteVal({ val_id: id })
    expect(await ada.hamlet(once)).toMatchObject({
      exit: 5,
      stderr: expect.stringMatching(/val was deleted.+"hello.conflict-1.ts"\n$/),
    })
    expect([list(ada), await names(ada), await ada.print(once)]).toEqual([
      ["hello.conflict-1.ts"],
      [],
      "",
    ])
  })

  test("files that cannot be vals are reported and ignored, and so are their vals", async () => {
    const ada = await withHello(stage(), "problem1")
    await ada.client.createVal({ name: "link", code: "1" })
    write(ada, "hello.ts", new Uint8Array([0xff]))
    write(ada, "copy.ts", "// hamlet: name=other\n1")
    write(ada, "other.ts", "2")
    write(ada, "long.ts", "x".repeat(256_001))
    write(ada, "taken.ts", "3")
    symlinkSync("/etc/hostname", join(ada.folder, "link.ts"))
    await ada.client.saveVal({ name: "hello", code: "two\n" })
    const { exit, stdout, stderr } = await ada.hamlet(once)
    expect([exit, stderr.split("\n").length - 1]).toEqual([2, 5])
    for (const text of [
      '"hello.ts": it is not UTF-8 text',
      '"copy.ts": "other.ts" already has the name',
      '"other.ts": "copy.ts"',
      '"link.ts": it is a link',
    ])
      expect(stderr).toContain(text)
    expect(stdout).toContain("created\ttaken.ts\ttaken@1\t\n")
    expect(await names(ada)).toEqual(["hello", "link", "taken"])

    await ada.client.createVal({ name: "free", code: "4" })
    await ada.print(["val", "pull", "free"])
    write(ada, "free.ts", "// hamlet: name=Taken\n4")
    for (const path of ["hello.ts", "copy.ts", "other.ts", "long.ts", "link.ts"])
      rmSync(join(ada.folder, path))
    expect(await ada.hamlet(once)).toMatchObject({
      exit: 5,
      stderr: expect.stringMatching(/Cannot rename the val to "Taken"/),
    })
  })

  test("vals of other users are never changed", async () => {
    const [ada, bob] = [await withHello(stage(), "foreign1"), await stage().person("foreign2")]
    await ada.client.updateVal({ val_id: ada.id, privacy: "public" })
    await bob.print(["val", "pull", "foreign1/hello"])
    write(bob, "hello.ts", "mine")
    expect(await bob.hamlet(once)).toMatchObject({ exit: 1, stdout: "problem\thello.ts\t\t\n" })
    // As an earlier program has written it down.
    const state = read(bob, ".hamlet/state.json").replaceAll(
      /\s+"(owner|codeHash|name|privacy|type)": "[^"]*",?/g,
      "",
    )
    write(bob, ".hamlet/state.json", state.replace(/,(\s+\})/, "$1"))
    expect(await bob.hamlet(once)).toMatchObject({ exit: 1, stdout: "problem\thello.ts\t\t\n" })
    expect(read(bob, "hello.ts")).toBe("mine")
    const env = { HAMLET_URL: stage().url, HAMLET_TOKEN: bob.token }
    expect((await ada.hamlet([...once, "--delete"], { env })).exit).toBe(1)
    expect([read(ada, "hello.ts"), await names(bob)]).toEqual([`${head}one\n`, []])
  })

  test("watch synchronises in both directions until Ctrl-C, at a terminal", async () => {
    const ada = await withHello(stage(), "live1")
    await using watching = ada.atTerminal(["val", "watch", "."])
    await watching.waitFor(/Watching "\."/)
    write(ada, "hello.ts", `${head}two\n`)
    await watching.waitFor(/↑ saved.+hello\.ts.+hello@2/)
    await ada.client.saveVal({ name: "hello", code: "three\n" })
    await watching.waitFor(/↓ wrote.+hello\.ts.+hello@3/)
    expect(read(ada, "hello.ts")).toBe(`${head}three\n`)
    write(ada, "hello.ts.README.md", "# Mine\n")
    await watching.waitFor(/↑ saved.+hello\.ts\.README\.md/)
    await ada.client.updateVal({ val_id: ada.id, readme: "# Theirs\n" })
    await watching.waitFor(/↓ wrote.+hello\.ts\.README\.md/)
    expect(read(ada, "hello.ts.README.md")).toBe("# Theirs\n")
    write(ada, "new.ts", "1")
    await watching.waitFor(/↑ created.+new\.ts/)
    renameSync(join(ada.folder, "new.ts"), join(ada.folder, "newer.ts"))
    await watching.waitFor(/→ renamed.+newer\.ts/)
    rmSync(join(ada.folder, "newer.ts"))
    await watching.waitFor(/"newer\.ts" was deleted/)
    await ada.client.deleteVal({ val_id: ada.id })
    await watching.waitFor(/× trashed.+hello\.ts/)
    expect(await ada.hamlet(once)).toMatchObject({
      exit: 5,
      stderr: expect.stringContaining("another process is watching it"),
    })
    watching.type("\x03")
    expect((await watching.ended()).exit).toBe(130)
    expect(await ada.hamlet(once)).toEqual({ exit: 0, stdout: "", stderr: "" })
  })

  test("watch waits for a file that is written with pauses, and handles every way in which editors save", async () => {
    const ada = await withHello(stage(), "live2")
    await using watching = ada.start(["val", "watch", "--json"])
    await watching.waitFor(/Watching/)
    const path = join(ada.folder, "hello.ts")
    const pauseMs = await writeSlowly(path, ["", head, "half", " and", " the", " other", " half\n"])
    await becomes(ada, "half and the other half\n")
    // As vim does it, and as those do that write another file first. The program stands still
    // meanwhile: a stall between two of these steps would make it see a file that is gone.
    const save = (steps: () => void) => {
      watching.signal("SIGSTOP")
      steps()
      watching.signal("SIGCONT")
    }
    save(() => {
      renameSync(path, `${path}~`)
      writeFileSync(path, `${head}by vim\n`)
      rmSync(`${path}~`)
    })
    await becomes(ada, "by vim\n")
    save(() => {
      write(ada, "hello.ts.tmp", `${head}at once\n`)
      renameSync(`${path}.tmp`, path)
    })
    await becomes(ada, "at once\n")
    watching.signal("SIGTERM")
    const { exit, stdout } = await watching.ended()
    const actions = stdout.split("\n").filter(Boolean)
    expect([exit, new Set(actions.map((line) => JSON.parse(line).action))]).toEqual([
      143,
      new Set(["saved"]),
    ])
    // After a long stall of the machine, a paused writer cannot be told from one that has finished.
    if (pauseMs >= limits.watchSettleMs / 2) return
    const codes = (await ada.client.listVersions({ val_id: ada.id })).data.map(({ code }) => code)
    expect(codes).toEqual(["at once\n", "by vim\n", "half and the other half\n", "one\n"])
  })

  test("watch waits for an unreachable server, reports it once, and continues when it is back", async () => {
    const ada = await stage().person("away1")
    await using gate = openGate(stage().url)
    const env = { HAMLET_URL: gate.url, HAMLET_TOKEN: ada.token }
    write(ada, "hello.ts", "one\n")
    await gate.shut()
    await using early = ada.start(["val", "watch"], { env })
    await early.waitFor(/retrying/)
    await gate.open()
    await early.waitFor(/created/)
    early.signal("SIGINT")
    await early.ended()
    await using watching = ada.start(["val", "watch"], { env })
    await watching.waitFor(/Watching/)
    await gate.shut()
    await watching.waitFor(/retrying/)
    write(ada, "hello.ts", "two\n")
    await ada.client.createVal({ name: "meanwhile", code: "1" })
    await gate.open()
    await watching.waitFor(/saved\thello.ts\thello@2/)
    await watching.waitFor(/wrote\tmeanwhile.ts/)
    watching.signal("SIGINT")
    const { exit, stderr } = await watching.ended()
    expect([
      exit,
      stderr.match(/retrying/g)?.length,
      stderr.match(/responds again/g)?.length,
    ]).toEqual([130, 1, 1])
    await gate.shut()
    expect((await ada.hamlet(once, { env })).exit).toBe(6)
  })

  test("an unchanged folder costs one small request per poll", async () => {
    const ada = await withHello(stage(), "cheap1")
    await using gate = openGate(stage().url)
    const env = { HAMLET_URL: gate.url, HAMLET_TOKEN: ada.token }
    await ada.print(once, { env })
    const before = gate.seen.length
    await ada.print(once, { env })
    expect(gate.seen.slice(before).filter((line) => line !== "GET /v1/me")).toEqual([
      "GET /v1/me/val-states",
    ])
  })

  const interruptions: readonly (readonly [
    what: string,
    request: RegExp,
    begin: (ada: Person & { id: string }) => unknown,
  ])[] = [
    ["a val is made", /^POST \/v1\/vals$/, (ada) => write(ada, "new.ts", "1\n")],
    ["a version is saved", /^POST .+versions$/, (ada) => write(ada, "hello.ts", `${head}two\n`)],
    [
      "a val is renamed",
      /^PUT \/v1\/vals\/.+/,
      (ada) => renameSync(join(ada.folder, "hello.ts"), join(ada.folder, "greet.ts")),
    ],
    ["a val is deleted", /^DELETE /, (ada) => rmSync(join(ada.folder, "hello.ts"))],
    [
      "a val is fetched",
      /^GET \/v1\/vals\/[^/]+$/,
      (ada) => ada.client.saveVal({ name: "hello", code: "two\n" }),
    ],
    [
      "the states are asked for",
      /^GET \/v1\/me\/val-states$/,
      (ada) => write(ada, "hello.ts", `${head}two\n`),
    ],
  ]
  const ends = [
    ["is killed before and after the server has done it", ["SIGKILL before", "SIGKILL after"]],
    ["is ended by Ctrl-C", ["SIGINT after"]],
  ] as const
  for (const [index, [what, request, begin]] of interruptions.entries())
    for (const [how, signals] of index % 2 === 1 ? ends : ends.slice(0, 1))
      test(`a watcher that ${how} while ${what} leaves both sides consistent for the next start`, async () => {
        const ada = await withHello(stage(), `stop${index}_${signals.length}`)
        await using gate = openGate(stage().url)
        const env = { HAMLET_URL: gate.url, HAMLET_TOKEN: ada.token }
        await ada.print(once, { env })
        await begin(ada)
        for (const [signal, point] of signals.map(
          (text) => text.split(" ") as [NodeJS.Signals, "before" | "after"],
        )) {
          const held = gate.hold(request, point)
          await using watching = ada.start(["val", "watch", "--delete"], { env })
          await held.isHeld
          watching.signal(signal)
          if (signal === "SIGKILL") held.drop()
          else held.release()
          expect((await watching.ended()).exit).toBe(signal === "SIGINT" ? 130 : 128)
        }
        const { exit, stderr } = await ada.hamlet([...once, "--delete"], { env })
        expect([exit, stderr]).toEqual([0, ""])
        const vals = await Promise.all((await names(ada)).map((name) => find(ada, name)))
        expect(list(ada)).toEqual(vals.map(({ name }) => `${name}.ts`).sort())
        for (const { name, code } of vals) expect(read(ada, `${name}.ts`)).toEndWith(code)
        expect(await ada.hamlet(once, { env })).toEqual({ exit: 0, stdout: "", stderr: "" })
        // Nothing is done twice.
        const versions = vals.some(({ id }) => id === ada.id)
          ? (await ada.client.listVersions({ val_id: ada.id })).data
          : []
        expect(versions.length).toBeLessThanOrEqual(2)
      })
})

/** Writes a file in parts, and gives the longest pause that there was. */
async function writeSlowly(path: string, parts: readonly string[]): Promise<number> {
  let pauseMs = 0
  for (const [index, part] of parts.entries()) {
    const beganMs = Date.now()
    if (index === 0) writeFileSync(path, part)
    else appendFileSync(path, part)
    await Bun.sleep(20)
    pauseMs = Math.max(pauseMs, Date.now() - beganMs)
  }
  return pauseMs
}

/** Waits until the val `hello` has the code. */
async function becomes(person: Person, code: string): Promise<void> {
  await until(async () => (await find(person, "hello")).code === code, `the val to become ${code}`)
}
