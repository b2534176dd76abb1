import { describe, expect, test } from "bun:test"
import {
  appendFileSync,
  cpSync,
  existsSync,
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
import { readTree, readVal, saveFiles } from "../support/trees.ts"
import { until } from "../support/until.ts"

const once = ["val", "watch", "--once"]
const main = "hello/main.tsx"
const find = (person: Person, name: string) =>
  person.client.getValByName({ username: person.username, val_name: name })
const names = async (person: Person) =>
  (await person.client.listMyValStates()).data.map(({ name }) => name)

/** A user with a val `hello` and its folder. */
async function withHello(
  stage: Stage,
  username: string,
): Promise<Person & { readonly id: string }> {
  const person = await stage.person(username)
  const { id } = await person.client.createVal({ name: "hello", code: "one\n" })
  await person.print(once)
  return { ...person, id }
}

describe("val watch, the folder of an account", () => {
  const stage = useStage()

  test("watch --once creates folders from vals and vals from folders, and then finds nothing to do", async () => {
    const ada = await stage().person("once1")
    await ada.client.createVal({ name: "remote", code: "r\n", type: "http", readme: "# R\n" })
    write(ada, "local/index.ts", "l\n")
    write(ada, "local/lib/deep.ts", "d\n")
    write(ada, "notes/todo.md", "not a val: no code\n")
    write(ada, "no name/main.ts", "not a val: no name of one\n")
    const before = readTree(ada.folder)
    const plan = await ada.print([...once, "--dry-run"])
    expect([readTree(ada.folder), existsSync(join(ada.folder, ".hamlet"))]).toEqual([before, false])
    expect(await names(ada)).toEqual(["remote"])
    expect(plan).toBe("created\tlocal\tlocal\t\nwrote\tremote\tremote@1\t\n")

    const events = await ada.json(once)
    expect(events.map(({ action, file }) => `${action} ${file}`).sort()).toEqual([
      "created local",
      "created local/index.ts",
      "created local/lib/deep.ts",
      "wrote remote/README.md",
      "wrote remote/main.tsx",
    ])
    expect(events.find(({ file }) => file === "local/index.ts")).toEqual({
      at: expect.any(String),
      action: "created",
      file: "local/index.ts",
      val: { id: expect.any(String), name: "local", version: 1 },
    })
    const { id, privacy, version } = await find(ada, "local")
    expect([privacy, version, await readVal(ada, id)]).toEqual([
      "private",
      1,
      { "index.ts": "l\n", "lib/deep.ts": "d\n" },
    ])
    expect(read(ada, "remote/README.md")).toBe("# R\n")
    expect([await ada.print(once), list(ada)]).toEqual([
      "",
      ["local", "no name", "notes", "remote"],
    ])
  })

  test("watch --once copies each change to the other side: files, readme, name", async () => {
    const ada = await withHello(stage(), "once2")
    write(ada, main, "two\n")
    write(ada, "hello/README.md", "# Mine\n")
    expect(await ada.print(once)).toBe(
      "saved\thello/main.tsx\thello@2\t\ncreated\thello/README.md\thello@2\t\n",
    )
    expect(await find(ada, "hello")).toMatchObject({ code: "two\n", readme: "# Mine\n" })

    await ada.client.updateVal({ val_id: ada.id, privacy: "unlisted", readme: "# Theirs\n" })
    await saveFiles(ada, ada.id, { "lib/a.ts": "a\n" })
    expect((await ada.print(once)).split("\n").sort()).toEqual([
      "",
      "wrote\thello/README.md\thello@4\t",
      "wrote\thello/lib/a.ts\thello@4\t",
    ])

    await ada.client.updateVal({ val_id: ada.id, name: "greet" })
    expect(await ada.print(once)).toBe("renamed\tgreet\tgreet@4\thello\n")
    renameSync(join(ada.folder, "greet"), join(ada.folder, "welcome"))
    expect(await ada.print(once)).toBe("renamed\twelcome\twelcome@4\tgreet\n")
    expect(await ada.client.getVal({ val_id: ada.id })).toMatchObject({
      name: "welcome",
      privacy: "unlisted",
    })
    expect(await ada.print(["val", "status", "--dir", "welcome"])).toBe("")
    // A name that no val can have stays that of the folder alone.
    renameSync(join(ada.folder, "welcome"), join(ada.folder, "my folder"))
    expect(await ada.print(once)).toBe("")
    write(ada, "my folder/main.tsx", "three\n")
    expect(await ada.print(once)).toBe("saved\tmy folder/main.tsx\twelcome@5\t\n")
    await ada.client.updateVal({ val_id: ada.id, name: "last" })
    expect([await ada.print(once), list(ada)]).toEqual(["", ["my folder"]])
  })

  test("changes of both sides are merged, and a conflict keeps both texts", async () => {
    const ada = await withHello(stage(), "conflict1")
    await saveFiles(ada, ada.id, { "main.tsx": "one\ntwo\nthree\n" })
    await ada.print(once)
    write(ada, main, "mine\ntwo\nthree\n")
    await saveFiles(ada, ada.id, { "main.tsx": "one\ntwo\ntheirs\n" })
    expect((await ada.hamlet(once)).exit).toBe(0)
    expect([read(ada, main), (await find(ada, "hello")).code]).toEqual([
      "mine\ntwo\ntheirs\n",
      "mine\ntwo\ntheirs\n",
    ])

    write(ada, main, "mine\n")
    await saveFiles(ada, ada.id, { "main.tsx": "theirs\n" })
    expect(await ada.hamlet([...once, "--dry-run"])).toMatchObject({
      exit: 5,
      stdout: "conflict\thello/main.tsx\thello@5\t\n",
    })
    expect(await ada.hamlet(once)).toEqual({
      exit: 5,
      stdout: "conflict\thello/main.tsx\thello@5\thello/main.conflict-1.tsx\n",
      stderr:
        'hello: Cannot save "main.tsx": both the file and the val have changed; the file now has version 5 of hello, and its previous text is in "main.conflict-1.tsx"\n',
    })
    expect([read(ada, main), read(ada, "hello/main.conflict-1.tsx")]).toEqual([
      "theirs\n",
      "mine\n",
    ])
    expect(await ada.hamlet(once)).toEqual({ exit: 0, stdout: "", stderr: "" })
  })

  test("a folder without a record is that of the val with its name, as in a fresh checkout of Git", async () => {
    const ada = await stage().person("fresh1")
    await ada.client.createVal({ name: "same", code: "same\n" })
    await ada.client.createVal({ name: "Other", code: "theirs\n" })
    write(ada, "same/main.tsx", "same\n")
    write(ada, "same/new.ts", "new\n")
    write(ada, "other/main.tsx", "mine\n")
    expect((await ada.hamlet(once)).exit).toBe(5)
    expect(list(ada)).toEqual(["other", "same"])
    expect(readTree(join(ada.folder, "other"))).toEqual({
      "main.tsx": "theirs\n",
      "main.conflict-1.tsx": "mine\n",
    })
    expect(await readVal(ada, (await find(ada, "same")).id)).toEqual({
      "main.tsx": "same\n",
      "new.ts": "new\n",
    })
    expect(await ada.hamlet(once)).toEqual({ exit: 0, stdout: "", stderr: "" })
  })

  test("a change during synchronisation is a conflict too", async () => {
    const ada = await withHello(stage(), "race1")
    await using gate = openGate(stage().url)
    const env = { HAMLET_URL: gate.url, HAMLET_TOKEN: ada.token }
    const folder = "through"
    const args = ["val", "watch", folder, "--once"]
    await ada.print(args, { env })
    write(ada, `${folder}/${main}`, "mine\n")
    const saving = gate.hold(/^POST .+files/, "before")
    const first = ada.hamlet(args, { env })
    await saving.isHeld
    await ada.client.saveVal({ name: "hello", code: "theirs\n" })
    saving.release()
    expect((await first).exit).toBe(5)
    expect([
      read(ada, `${folder}/${main}`),
      read(ada, `${folder}/hello/main.conflict-1.tsx`),
    ]).toEqual(["theirs\n", "mine\n"])

    await ada.client.saveVal({ name: "hello", code: "theirs again\n" })
    const fetching = gate.hold(/^GET .+content/, "after")
    const second = ada.hamlet(args, { env })
    await fetching.isHeld
    write(ada, `${folder}/${main}`, "mine again\n")
    fetching.release()
    expect((await second).exit).toBe(5)
    expect([
      read(ada, `${folder}/${main}`),
      read(ada, `${folder}/hello/main.conflict-2.tsx`),
    ]).toEqual(["theirs again\n", "mine again\n"])
  })

  test("a deleted folder does not delete its val, and comes back when the val changes or is pulled", async () => {
    const ada = await withHello(stage(), "left1")
    const remove = () => rmSync(join(ada.folder, "hello"), { recursive: true })
    remove()
    expect(await ada.hamlet(once)).toEqual({
      exit: 0,
      stdout: "left\thello\thello@1\t\n",
      stderr:
        '"hello" was deleted and the val hello was kept; delete it with "hamlet val rm hello", or fetch it again with "hamlet val pull hello"\n',
    })
    expect(await ada.hamlet([...once, "--delete"])).toEqual({ exit: 0, stdout: "", stderr: "" })
    await ada.client.saveVal({ name: "hello", code: "two\n" })
    expect(await ada.print(once)).toBe("wrote\thello/main.tsx\thello@2\t\n")
    remove()
    await ada.print(once)
    expect(await ada.print(["val", "pull", "hello"])).toBe("hello\n")
    expect([read(ada, main), await ada.print(once)]).toEqual(["two\n", ""])
  })

  test("with --delete a deleted folder deletes its val after archiving it, unless the val has changed or too many are gone", async () => {
    const ada = await withHello(stage(), "delete1")
    await saveFiles(ada, ada.id, { "main.tsx": "two\n", "lib.ts": "lib\n" })
    await ada.print(once)
    rmSync(join(ada.folder, "hello"), { recursive: true })
    const deleted = await ada.print([...once, "--delete"])
    expect(deleted).toMatch(/^deleted\thello\thello@2\t.hamlet\/trash\/\S+-hello.zip\n$/)
    expect([await names(ada), listTrash(ada)]).toEqual([[], ["hello.zip"]])
    // The archive has everything.
    await ada.print(["import", deleted.trim().split("\t").at(-1) ?? ""])
    const { id, version } = await find(ada, "hello")
    expect([version, await readVal(ada, id)]).toEqual([
      2,
      { "main.tsx": "two\n", "lib.ts": "lib\n" },
    ])
    await ada.print(once)

    await ada.client.saveVal({ name: "hello", code: "three\n" })
    rmSync(join(ada.folder, "hello"), { recursive: true })
    await ada.print([...once, "--delete"])
    expect(read(ada, main)).toBe("three\n")

    const many = Array.from({ length: 11 }, (_, index) => `many${index}`)
    for (const name of many) write(ada, `${name}/main.ts`, "1")
    await ada.print(once)
    for (const name of many) rmSync(join(ada.folder, name), { recursive: true })
    await ada.print([...once, "--delete"])
    expect(await names(ada)).toHaveLength(12)
  })

  test("a deleted val moves its folder to the trash, or to a conflict folder if it has changes", async () => {
    const ada = await withHello(stage(), "gone1")
    await ada.client.deleteVal({ val_id: ada.id })
    expect(await ada.print(once)).toMatch(/^trashed\thello\thello\t.hamlet\/trash\/\S+-hello\n$/)
    expect([list(ada), listTrash(ada)]).toEqual([[], ["hello"]])

    const { id } = await ada.client.createVal({ name: "hello", code: "one\n" })
    await ada.print(once)
    write(ada, "hello/new.ts", "mine\n")
    await ada.client.deleteVal({ val_id: id })
    expect(await ada.hamlet(once)).toEqual({
      exit: 5,
      stdout: "conflict\thello\thello\thello.conflict-1\n",
      stderr: 'Cannot save "hello": the val was deleted; its files are in "hello.conflict-1"\n',
    })
    expect([list(ada), read(ada, "hello.conflict-1/new.ts")]).toEqual([
      ["hello.conflict-1"],
      "mine\n",
    ])
    expect([await names(ada), await ada.print(once)]).toEqual([[], ""])
  })

  test("what cannot be synchronised is reported and left alone; the rest goes on", async () => {
    const ada = await withHello(stage(), "problem1")
    await ada.client.createVal({ name: "broken", code: "1" })
    await ada.client.createVal({ name: "link", code: "1" })
    await ada.print(once)
    rmSync(join(ada.folder, "link"), { recursive: true })
    symlinkSync("/etc", join(ada.folder, "link"))
    write(ada, "loose.ts", "in no folder")
    write(ada, "broken/.hamlet/state.json", "{}}")
    cpSync(join(ada.folder, "hello"), join(ada.folder, "hello2"), { recursive: true })
    write(ada, "hello/main.tsx", new Uint8Array([0xff]))
    write(ada, "taken/main.ts", "3")
    const { exit, stdout, stderr } = await ada.hamlet(once)
    expect(exit).toBe(1)
    for (const text of [
      'Cannot save "loose.ts": each val has a folder here',
      'Cannot watch "broken": ',
      'Cannot watch "hello2": "hello" is the folder of the same val',
      'hello: Cannot save "main.tsx": it is not UTF-8 text',
    ])
      expect(stderr).toContain(text)
    expect(stdout).toContain("created\ttaken/main.ts\ttaken@1\t\n")
    expect(stdout).toContain("left\tlink\tlink@1\t\n")
    expect(await names(ada)).toEqual(["broken", "hello", "link", "taken"])

    write(ada, ".hamletignore", "loose.ts\nhello2/\n")
    await ada.print(["val", "rm", "broken", "--yes"])
    rmSync(join(ada.folder, "broken"), { recursive: true })
    write(ada, main, "fine\n")
    expect((await ada.hamlet(once)).exit).toBe(0)
    expect((await find(ada, "hello")).code).toBe("fine\n")
    // A name that another val has.
    renameSync(join(ada.folder, "hello"), join(ada.folder, "LINK2"))
    await ada.client.createVal({ name: "link2", code: "4" })
    expect(await ada.hamlet(once)).toMatchObject({
      exit: 5,
      stderr: expect.stringMatching(/Cannot rename the val to "LINK2"/),
    })
  })

  test("vals of other users are never changed, nor are folders of other users used", async () => {
    const [ada, bob] = [await withHello(stage(), "foreign1"), await stage().person("foreign2")]
    await ada.client.updateVal({ val_id: ada.id, privacy: "public" })
    await bob.print(["val", "clone", "foreign1/hello"])
    write(bob, main, "mine")
    expect(await bob.hamlet(once)).toMatchObject({
      exit: 1,
      stdout: "problem\thello\t\t\n",
      stderr: expect.stringContaining("its val belongs to another user"),
    })
    expect([read(bob, main), (await find(ada, "hello")).code]).toEqual(["mine", "one\n"])
    const env = { HAMLET_URL: stage().url, HAMLET_TOKEN: bob.token }
    expect(await ada.hamlet([...once, "--delete"], { env })).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("it is the folder of foreign1 on"),
    })
    expect([read(ada, main), await names(bob)]).toEqual(["one\n", []])
  })

  test("a folder of another branch is kept in sync with that branch", async () => {
    const ada = await withHello(stage(), "branch1")
    await ada.print(["branch", "switch", "-c", "draft", "--dir", "hello"])
    write(ada, main, "draft\n")
    await ada.print(once)
    expect((await find(ada, "hello")).code).toBe("one\n")
    const [draft] = (await ada.client.listBranches({ val_id: ada.id })).data.filter(
      ({ name }) => name === "draft",
    )
    expect(await readVal(ada, ada.id, draft?.id)).toEqual({ "main.tsx": "draft\n" })
    await using watching = ada.start(["val", "watch"])
    await watching.waitFor(/Watching/)
    await ada.client.changeFiles({
      val_id: ada.id,
      branch_id: draft?.id ?? "",
      changes: [{ path: "main.tsx", content: "theirs\n" }],
    })
    await watching.waitFor(/wrote\thello\/main.tsx/)
    expect(read(ada, main)).toBe("theirs\n")
  })

  test("watch synchronises in both directions until Ctrl-C, at a terminal", async () => {
    const ada = await withHello(stage(), "live1")
    await using watching = ada.atTerminal(["val", "watch", "."])
    await watching.waitFor(/Watching "\."/)
    write(ada, main, "two\n")
    await watching.waitFor(/↑ saved.+hello\/main\.tsx.+hello@2/)
    await ada.client.saveVal({ name: "hello", code: "three\n" })
    await watching.waitFor(/↓ wrote.+hello\/main\.tsx.+hello@3/)
    expect(read(ada, main)).toBe("three\n")
    await ada.client.createVal({ name: "theirs", code: "1" })
    await watching.waitFor(/↓ wrote.+theirs\/main\.tsx/)
    write(ada, "new/main.ts", "1")
    await watching.waitFor(/↑ created.+new\/main\.ts/)
    renameSync(join(ada.folder, "new"), join(ada.folder, "newer"))
    await watching.waitFor(/→ renamed.+newer/)
    rmSync(join(ada.folder, "newer"), { recursive: true })
    await watching.waitFor(/"newer" was deleted/)
    await ada.client.deleteVal({ val_id: ada.id })
    await watching.waitFor(/× trashed.+hello/)
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
    const path = join(ada.folder, main)
    const pauseMs = await writeSlowly(path, ["", "half", " and", " the", " other", " half\n"])
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
      writeFileSync(path, "by vim\n")
      rmSync(`${path}~`)
    })
    await becomes(ada, "by vim\n")
    save(() => {
      write(ada, `${main}.tmp~`, "at once\n")
      renameSync(`${path}.tmp~`, path)
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
    write(ada, "hello/main.ts", "one\n")
    await gate.shut()
    await using early = ada.start(["val", "watch"], { env })
    await early.waitFor(/retrying/)
    await gate.open()
    await early.waitFor(/created\thello\/main.ts/)
    early.signal("SIGINT")
    await early.ended()
    await using watching = ada.start(["val", "watch"], { env })
    await watching.waitFor(/Watching/)
    await gate.shut()
    await watching.waitFor(/retrying/)
    write(ada, "hello/main.ts", "two\n")
    await ada.client.createVal({ name: "meanwhile", code: "1" })
    await gate.open()
    await watching.waitFor(/saved\thello\/main.ts\thello@2/)
    await watching.waitFor(/wrote\tmeanwhile\/main.tsx/)
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

  test("an unchanged folder costs one small request per poll, and a change only what it needs", async () => {
    const ada = await withHello(stage(), "cheap1")
    for (let n = 0; n < 20; n++) await ada.client.createVal({ name: `val${n}`, code: `${n}\n` })
    await using gate = openGate(stage().url)
    const env = { HAMLET_URL: gate.url, HAMLET_TOKEN: ada.token }
    const args = ["val", "watch", "through", "--once"]
    await ada.print(args, { env })
    const seeRequests = async () => {
      const before = gate.seen.length
      await ada.print(args, { env })
      return gate.seen.slice(before).filter((line) => line !== "GET /v1/me")
    }
    const states = "GET /v1/me/val-states"
    expect(await seeRequests()).toEqual([states])
    write(ada, `through/${main}`, "two\n")
    expect(await seeRequests()).toEqual([states, expect.stringMatching(/^POST .+files/), states])
  })

  const interruptions: readonly (readonly [
    what: string,
    request: RegExp,
    begin: (ada: Person & { id: string }, folder: string) => unknown,
  ])[] = [
    ["a val is made", /^POST \/v2\/vals$/, (ada) => write(ada, "through/new/main.ts", "1\n")],
    ["a version is saved", /^POST .+files/, (ada) => write(ada, `through/${main}`, "two\n")],
    [
      "a val is renamed",
      /^PUT \/v1\/vals\/.+/,
      (_, folder) => renameSync(join(folder, "hello"), join(folder, "greet")),
    ],
    [
      "a val is deleted",
      /^DELETE /,
      (_, folder) => rmSync(join(folder, "hello"), { recursive: true }),
    ],
    [
      "a file is fetched",
      /^GET .+content/,
      (ada) => ada.client.saveVal({ name: "hello", code: "two\n" }),
    ],
    [
      "a new val is fetched",
      /^GET .+content/,
      (ada) => ada.client.createVal({ name: "fresh", code: "1\n" }),
    ],
    [
      "the states are asked for",
      /^GET \/v1\/me\/val-states$/,
      (ada) => write(ada, `through/${main}`, "two\n"),
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
        const folder = join(ada.folder, "through")
        const args = ["val", "watch", "through"]
        await ada.print([...args, "--once"], { env })
        await begin(ada, folder)
        for (const [signal, point] of signals.map(
          (text) => text.split(" ") as [NodeJS.Signals, "before" | "after"],
        )) {
          const held = gate.hold(request, point)
          await using watching = ada.start([...args, "--delete"], { env })
          await held.isHeld
          watching.signal(signal)
          if (signal === "SIGKILL") held.drop()
          else held.release()
          expect((await watching.ended()).exit).toBe(signal === "SIGINT" ? 130 : 128)
        }
        const { exit, stderr } = await ada.hamlet([...args, "--once", "--delete"], { env })
        expect([exit, stderr]).toEqual([0, ""])
        const vals = await Promise.all((await names(ada)).map((name) => find(ada, name)))
        expect(list(ada, "through")).toEqual(vals.map(({ name }) => name).sort())
        for (const { id, name } of vals)
          expect(readTree(join(folder, name))).toEqual(await readVal(ada, id))
        expect(await ada.hamlet([...args, "--once"], { env })).toEqual({
          exit: 0,
          stdout: "",
          stderr: "",
        })
        // Nothing is done twice.
        for (const { version } of vals) expect(version).toBeLessThanOrEqual(2)
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
