import { describe, expect, test } from "bun:test"
import { appendFileSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs"
import { join } from "node:path"
import { read, write } from "../support/folder.ts"
import { openGate } from "../support/gate.ts"
import { changeRepository, toRepository } from "../support/repository.ts"
import { useStage } from "../support/shared-stage.ts"
import { openStage } from "../support/stage.ts"
import {
  expectSameTrees,
  readTree,
  readVal,
  saveFiles,
  withApp,
  writeTree,
} from "../support/trees.ts"
import { until } from "../support/until.ts"
import { createRandom } from "../support/watch-world.ts"

describe("val watch, with folders of vals", () => {
  const stage = useStage()

  test("keeps a folder and its val in sync, also with editors that replace files", async () => {
    const ada = await withApp(stage(), "sync1")
    const folder = join(ada.folder, "app")
    await using watching = ada.start(["val", "watch", "app"])
    await watching.waitFor(/Watching/)
    write(ada, "app/main.tsx.tmp~", "saved by rename\n")
    renameSync(join(folder, "main.tsx.tmp~"), join(folder, "main.tsx"))
    await until(
      async () => (await readVal(ada, ada.id))["main.tsx"] === "saved by rename\n",
      "the file is saved",
    )
    // Another way: the old file moves away, and a new one comes.
    renameSync(join(folder, "lib/a.ts"), join(folder, "lib/a.ts~"))
    write(ada, "app/lib/a.ts", "again\n")
    await saveFiles(ada, ada.id, { "theirs.ts": "theirs\n" })
    await until(
      async () =>
        existsSync(join(folder, "theirs.ts")) &&
        (await readVal(ada, ada.id))["lib/a.ts"] === "again\n",
      "both sides are the same",
    )
    rmSync(join(folder, "lib/b.ts"))
    await until(
      async () => !Object.hasOwn(await readVal(ada, ada.id), "lib/b.ts"),
      "the file is deleted",
    )
    rmSync(join(folder, "lib/a.ts~"))
    expect(await readVal(ada, ada.id)).toEqual(readTree(folder))
    // No version says that a file was missing for a moment.
    const changed = await ada.client.getFile({ file_id: await findId(ada, "lib/a.ts") })
    expect(changed.path).toBe("lib/a.ts")
    expect(watching.pid).toBeGreaterThan(0)
    watching.signal("SIGINT")
    expect((await watching.ended()).exit).toBe(130)
  }, 60_000)

  test("many deletions at once are not saved without --delete", async () => {
    const files = Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`${n}.ts`, `${n}`]))
    const ada = await withApp(stage(), "sync2", files)
    for (const path of Object.keys(files).slice(1)) rmSync(join(ada.folder, "app", path))
    const { exit, stderr } = await ada.in("val", "watch", "--once")
    expect([exit, stderr]).toEqual([
      1,
      'Cannot delete 11 files at once: restore them with "hamlet val pull --force", or delete them with "--delete" or "hamlet val push"\n',
    ])
    expect(await readVal(ada, ada.id)).toEqual(files)
    await ada.inApp("val", "watch", "--once", "--delete")
    expect(await readVal(ada, ada.id)).toEqual({ "0.ts": "0" })
  })

  test("clone and pull write the vals of an account to folders, and watch goes on there", async () => {
    const ada = await stage().person("sync3")
    await ada.client.createVal({ name: "one", code: "1\n", readme: "# One" })
    const two = await ada.client.createVal({ name: "two", code: "2\n" })
    await saveFiles(ada, two.id, { "lib.ts": "lib\n" })
    expect((await ada.print(["val", "clone", "sync3", "copy"])).split("\n").sort()).toEqual([
      "",
      "copy/one",
      "copy/two",
    ])
    expect(readTree(join(ada.folder, "copy"))).toMatchObject({
      "one/main.tsx": "1\n",
      "one/README.md": "# One",
      "two/main.tsx": "2\n",
      "two/lib.ts": "lib\n",
    })
    await saveFiles(ada, two.id, { "lib.ts": "newest\n" })
    await ada.print(["val", "pull", "--dir", "copy"])
    expect(read(ada, "copy/two/lib.ts")).toBe("newest\n")
    await saveFiles(ada, two.id, { "lib.ts": "again\n" })
    await ada.print(["val", "pull", "two", "--dir", "copy"])
    expect(read(ada, "copy/two/lib.ts")).toBe("again\n")
    expect(await ada.print(["val", "watch", "copy", "--once"])).toBe("")
    // Each val has a folder here.
    write(ada, "copy/three.ts", "3")
    expect(await ada.hamlet(["val", "push", "copy/three.ts"])).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("each val has a folder here"),
    })
  }, 60_000)

  test("a push whose answer is lost is not a conflict, and makes one version", async () => {
    const ada = await withApp(stage(), "sync4")
    await using gate = openGate(stage().url)
    const env = { HAMLET_URL: gate.url, HAMLET_TOKEN: ada.token }
    await ada.print(["val", "clone", "sync4/app", "through"], { env })
    write(ada, "through/main.tsx", "mine\n")
    renameSync(join(ada.folder, "through/lib/a.ts"), join(ada.folder, "through/a.ts"))
    rmSync(join(ada.folder, "through/lib/b.ts"))
    const held = gate.hold(/POST .*files/, "after")
    await using pushing = ada.start(["val", "push", "--dir", "through"], { env })
    await held.isHeld
    pushing.signal("SIGKILL")
    await pushing.ended()
    held.release()
    expect(await ada.versionOf()).toBe(2)
    const before = await ada.versionOf()
    expect(await ada.print(["val", "push", "--dir", "through"], { env })).toBe("sync4/app@2\n")
    expect(await ada.versionOf()).toBe(before)

    // Killed before the server gets it: nothing is saved, and nothing is lost.
    write(ada, "through/main.tsx", "more\n")
    const early = gate.hold(/POST .*files/, "before")
    await using again = ada.start(["val", "push", "--dir", "through"], { env })
    await early.isHeld
    again.signal("SIGKILL")
    await again.ended()
    early.drop()
    expect(await ada.versionOf()).toBe(2)
    await ada.print(["val", "push", "--dir", "through"], { env })
    expect([await ada.versionOf(), read(ada, "through/main.tsx")]).toEqual([3, "more\n"])
  }, 60_000)

  test("a clone that is killed half way goes on with a pull", async () => {
    const files = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`f/${n}.ts`, `${n}`]))
    const ada = await withApp(stage(), "sync5", files)
    await using gate = openGate(stage().url)
    const env = { HAMLET_URL: gate.url, HAMLET_TOKEN: ada.token }
    const held = gate.hold(/GET .*content/, "before")
    await using cloning = ada.start(["val", "clone", "sync5/app", "half"], { env })
    await held.isHeld
    cloning.signal("SIGKILL")
    await cloning.ended()
    held.drop()
    await ada.print(["val", "pull", "--dir", "half"], { env })
    expectSameTrees(join(ada.folder, "app"), join(ada.folder, "half"))
  }, 60_000)
})

describe("progress of a clone", () => {
  const stage = useStage()

  test("is a line that is erased at a terminal, and nothing in a pipe", async () => {
    const files = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`${n}.ts`, `${n}`]))
    const ada = await withApp(stage(), "progress1", files)
    await using gate = openGate(stage().url)
    const env = { HAMLET_URL: gate.url, HAMLET_TOKEN: ada.token }
    const held = gate.hold(/GET .*content/, "before")
    await using watched = ada.atTerminal(["val", "clone", "progress1/app", "seen"], { env })
    await held.isHeld
    // All others are there, and the line says so.
    await watched.waitFor(/Downloading.*39/)
    held.release()
    const { exit, stdout } = await watched.ended()
    expect([exit, /\r +\r[^\r]*Wrote seen/.test(stdout)]).toEqual([0, true])
    // A failure is not printed behind the line.
    const lost = gate.hold(/GET .*content/, "before")
    await using failing = ada.atTerminal(["val", "clone", "progress1/app", "failed"], { env })
    await lost.isHeld
    await failing.waitFor(/Downloading.*39/)
    await gate.shut()
    lost.drop()
    expect((await failing.ended()).stdout).toMatch(/\r +\r[^\r]*Cannot/)
    await gate.open()

    const slow = gate.hold(/GET .*content/, "before")
    await using piped = ada.start(["val", "clone", "progress1/app", "piped"], { env })
    await slow.isHeld
    slow.release()
    expect(await piped.ended()).toEqual({ exit: 0, stdout: "piped\n", stderr: "" })
  }, 120_000)
})

describe("a repository of 300 files", () => {
  test("is pushed, changed, pulled and watched while server and client are killed", async () => {
    await using stage = await openStage()
    const ada = await stage.person("ada")
    const [here, there] = [join(ada.folder, "here"), join(ada.folder, "there")]
    mkdirSync(here)
    const files = toRepository()
    writeTree(here, files)
    const paths = Object.keys(files)
    expect(paths).toHaveLength(300)
    await ada.print(["val", "push", "--create", "tree", "--dir", "here"])
    await ada.print(["val", "clone", "ada/tree", "there"])
    expectSameTrees(here, there)
    const { id } = await ada.client.getValByName({ username: "ada", val_name: "tree" })
    const versionOf = async () =>
      (await ada.client.getBranch({ val_id: id, branch_id: id })).version
    expect([await versionOf(), await readVal(ada, id)]).toEqual([1, readTree(here)])

    // The server is killed during a push: all of it was saved, or nothing.
    const random = createRandom(25)
    for (let round = 0; round < 2; round++) {
      const whole = readTree(here)
      const before = await versionOf()
      changeRepository(here, paths.splice(0, 60), random, `push${round}`)
      await using pushing = ada.start(["val", "push", "--dir", "here"])
      await stage.killServer()
      await pushing.ended()
      const saved = (await versionOf()) > before
      expect(await readVal(ada, id)).toEqual(saved ? readTree(here) : whole)
      await ada.print(["val", "push", "--dir", "here"])
      expect(await versionOf()).toBe(before + 1)
      expect(await readVal(ada, id)).toEqual(readTree(here))
    }

    // Watched on both sides, while editors save, and all three are killed.
    for (let round = 0; round < 3; round++) {
      await using one = ada.start(["val", "watch", "here", "--delete"])
      await using other = ada.start(["val", "watch", "there", "--delete"])
      await Promise.all([one.waitFor(/Watching/), other.waitFor(/Watching/)])
      changeRepository(here, paths.splice(0, 20), random, `watch${round}`)
      if (round === 0)
        await until(() => Bun.deepEquals(readTree(there), readTree(here)), "both are the same")
      if (round === 1) await stage.killServer()
      one.signal("SIGKILL")
      other.signal("SIGKILL")
      await Promise.all([one.ended(), other.ended()])
    }
    // A watch that was killed may have saved what it had not noted yet.
    await ada.print(["val", "pull", "--dir", "here"])
    renameSync(join(here, "docs"), join(here, "texts"))
    await ada.print(["val", "push", "--dir", "here"])
    await ada.print(["file", "type", "ada/tree", "Makefile", "script"])
    await ada.print(["val", "pull", "--dir", "there"])
    expectSameTrees(here, there)
    expect(await readVal(ada, id)).toEqual(readTree(here))
    expect(await ada.print(["val", "status", "--dir", "there"])).toBe("")
    // A type is not in the folder: the next push and pull keep it.
    appendFileSync(join(there, "Makefile"), "more\n")
    await ada.print(["val", "push", "--dir", "there"])
    await ada.print(["val", "pull", "--dir", "here"])
    expectSameTrees(here, there)
    const [makefile] = (await ada.client.listFiles({ val_id: id, path: "Makefile" })).data
    expect(makefile?.type).toBe("script")
  }, 240_000)
})

async function findId(ada: Awaited<ReturnType<typeof withApp>>, path: string): Promise<string> {
  return (await ada.client.listFiles({ val_id: ada.id, path })).data[0]?.id ?? ""
}
