import { describe, expect, test } from "bun:test"
import { existsSync, rmSync } from "node:fs"
import { join } from "node:path"
import { listTrash, read, write } from "../support/folder.ts"
import { openGate } from "../support/gate.ts"
import { useStage } from "../support/shared-stage.ts"
import type { Stage } from "../support/stage.ts"
import { readTree, readVal, saveFiles, withApp } from "../support/trees.ts"

const start = {
  "main.tsx": "one\ntwo\nthree\nfour\nfive\n",
  "lib/a.ts": "a\n",
  "lib/b.ts": "b\n",
  "other.ts": "other\n",
}

/** A folder of `main`, and a branch `draft` whose changes conflict in three files. */
async function withConflicts(stage: Stage, username: string) {
  const ada = await withApp(stage, username, start)
  await ada.inApp("branch", "create", "draft")
  const { data } = await ada.client.listBranches({ val_id: ada.id })
  const draft = data.find(({ name }) => name === "draft")?.id ?? ""
  const saveDraft = (changes: Parameters<typeof ada.client.changeFiles>[0]["changes"]) =>
    ada.client.changeFiles({ val_id: ada.id, branch_id: draft, changes })
  await saveDraft([
    { path: "main.tsx", content: "ONE\ntwo\nthree\nfour\ndraft\n" },
    { path: "lib/a.ts", content: "draft\n" },
    { path: "lib/b.ts", delete: true },
    { path: "new.ts", content: "new\n" },
  ])
  await saveFiles(ada, ada.id, {
    "main.tsx": "one\ntwo\nthree\nfour\nmain\n",
    "lib/b.ts": "main\n",
  })
  await ada.client.changeFiles({ val_id: ada.id, changes: [{ path: "lib/a.ts", delete: true }] })
  return { ...ada, draft, saveDraft, app: join(ada.folder, "app") }
}

describe("branch merge in the folder of a val", () => {
  const stage = useStage()

  test("writes conflicts with markers, and --continue saves the decisions as one version", async () => {
    const ada = await withConflicts(stage(), "marks1")
    const before = await ada.versionOf()
    const refused = await ada.in("branch", "merge", "draft", "-m", "merged")
    expect([refused.exit, refused.stderr]).toEqual([
      5,
      'Cannot merge: both branches have changed the same lines of "lib/a.ts", "lib/b.ts", "main.tsx"; edit the files, or delete them, and run "hamlet branch merge --continue"; "hamlet branch merge --abort" gives up\n',
    ])
    expect(readTree(ada.app)).toEqual({
      "main.tsx": "ONE\ntwo\nthree\nfour\n<<<<<<< main\nmain\n=======\ndraft\n>>>>>>> draft\n",
      "lib/a.ts": "<<<<<<< main\n=======\ndraft\n>>>>>>> draft\n",
      "lib/b.ts": "<<<<<<< main\nmain\n=======\n>>>>>>> draft\n",
      "other.ts": "other\n",
    })
    expect(await ada.versionOf()).toBe(before)
    // Nothing else may save or overwrite what has both sides.
    for (const args of [
      ["val", "push"],
      ["val", "pull"],
      ["val", "watch", "--once"],
      ["branch", "switch", "draft"],
      ["branch", "merge", "draft"],
    ])
      expect((await ada.in(...args)).stderr).toBe(
        'Cannot do this while draft is being merged into main; resolve the conflicts and run "hamlet branch merge --continue", or give up with "hamlet branch merge --abort"\n',
      )
    expect((await ada.in("val", "status")).stderr).toStartWith(
      "Merging draft into main: conflicts in lib/a.ts, lib/b.ts, main.tsx",
    )
    write(ada, "app/main.tsx", "ONE\ntwo\nthree\nfour\nboth\n")
    write(ada, "app/other.ts", "changed meanwhile\n")
    expect((await ada.in("branch", "merge", "--continue")).stderr).toBe(
      'Cannot continue: there are still conflict markers in "lib/a.ts", "lib/b.ts"\n',
    )
    write(ada, "app/lib/a.ts", "draft\n")
    rmSync(join(ada.app, "lib/b.ts"))
    expect(await ada.inApp("branch", "merge", "--continue")).toBe(`${before + 1}\n`)
    const merged = {
      "main.tsx": "ONE\ntwo\nthree\nfour\nboth\n",
      "lib/a.ts": "draft\n",
      "new.ts": "new\n",
    }
    expect(await readVal(ada, ada.id)).toEqual({ ...merged, "other.ts": "other\n" })
    expect(readTree(ada.app)).toEqual({ ...merged, "other.ts": "changed meanwhile\n" })
    expect(await ada.inApp("val", "status")).toBe("folder\tsaved\tother.ts\t\n")
    const { data } = await ada.client.listVersions({ val_id: ada.id })
    expect(data[0]?.note).toBe("merged")
    // Merged twice, nothing changes.
    await ada.inApp("val", "push")
    expect(await ada.json(["branch", "merge", "app", "draft"])).toEqual([
      { version: before + 2, isNewVersion: false },
    ])
    expect((await ada.in("branch", "merge", "--abort")).exit).toBe(2)
  }, 120_000)

  test("--abort restores the files; half resolved ones move to the trash", async () => {
    const ada = await withConflicts(stage(), "merge2")
    await ada.inApp("val", "pull")
    const before = readTree(ada.app)
    expect((await ada.in("branch", "merge", "draft")).exit).toBe(5)
    write(ada, "app/main.tsx", "half resolved\n")
    expect(await ada.inApp("branch", "merge", "--abort")).toBe("main\n")
    expect(readTree(ada.app)).toEqual(before)
    expect(await ada.inApp("val", "status")).toBe("")
    const trash = listTrash({ ...ada, folder: ada.app })
    expect(trash).toContain("main.tsx")
    expect((await ada.in("branch", "merge", "draft", "--take", "theirs")).exit).toBe(0)
    expect(readTree(ada.app)).toEqual(await readVal(ada, ada.id))
    expect(readTree(ada.app)["main.tsx"]).toBe("ONE\ntwo\nthree\nfour\ndraft\n")
  }, 120_000)

  test("a branch is brought up to date by naming its parent, or with --from-parent", async () => {
    const ada = await withConflicts(stage(), "merge3")
    await ada.inApp("branch", "switch", "draft")
    write(ada, "app/other.ts", "unsaved\n")
    expect((await ada.in("branch", "merge", "main")).stderr).toStartWith(
      'Cannot merge: "other.ts" has local changes; save them with "hamlet val push"',
    )
    await ada.inApp("val", "pull", "--force")
    expect((await ada.in("branch", "merge", "main")).exit).toBe(5)
    expect(read(ada, "app/main.tsx")).toContain("<<<<<<< draft\ndraft\n=======\nmain\n>>>>>>> main")
    await ada.inApp("branch", "merge", "--abort")
    await ada.inApp("branch", "merge", "--from-parent", "--take", "ours")
    expect(readTree(ada.app)).toEqual(await readVal(ada, ada.id, ada.draft))
    expect(read(ada, "app/main.tsx")).toBe("ONE\ntwo\nthree\nfour\ndraft\n")
    expect((await ada.in("branch", "merge", "nothing")).exit).toBe(4)
    expect((await ada.hamlet(["branch", "merge", "draft"])).exit).toBe(2)
  }, 120_000)

  test("decisions do not overwrite what was saved meanwhile; a lost answer is no failure", async () => {
    const ada = await withConflicts(stage(), "merge4")
    await using gate = openGate(stage().url)
    const env = { HAMLET_URL: gate.url, HAMLET_TOKEN: ada.token }
    await ada.print(["val", "clone", "merge4/app", "through"], { env })
    const options = { env, cwd: join(ada.folder, "through") }
    await ada.hamlet(["branch", "merge", "draft"], options)
    write(ada, "through/main.tsx", "both\n")
    for (const path of ["lib/a.ts", "lib/b.ts"]) rmSync(join(options.cwd, path))
    await saveFiles(ada, ada.id, { "main.tsx": "saved meanwhile\n" })
    const refused = await ada.hamlet(["branch", "merge", "--continue"], options)
    expect([refused.exit, refused.stderr]).toEqual([
      5,
      'Cannot continue: main or draft has changed since the merge began; run "hamlet branch merge --abort", which moves your texts to .hamlet/trash, and merge again\n',
    ])
    await ada.print(["branch", "merge", "--abort"], options)
    await ada.hamlet(["branch", "merge", "draft"], options)
    write(ada, "through/main.tsx", "both\n")
    for (const path of ["lib/a.ts", "lib/b.ts"]) rmSync(join(options.cwd, path), { force: true })
    const before = await ada.versionOf()
    const held = gate.hold(/POST .*merge/, "after")
    await using merging = ada.start(["branch", "merge", "--continue"], options)
    await held.isHeld
    merging.signal("SIGKILL")
    await merging.ended()
    held.release()
    expect(await ada.print(["branch", "merge", "--continue"], options)).toBe(`${before + 1}\n`)
    expect(readTree(options.cwd)).toEqual(await readVal(ada, ada.id))
    expect(read(ada, "through/main.tsx")).toBe("both\n")
    expect(existsSync(join(options.cwd, ".hamlet/merge.json"))).toBe(false)
  }, 120_000)
})
