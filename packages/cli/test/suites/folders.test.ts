import { describe, expect, test } from "bun:test"
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { list, listTrash, read, write } from "../support/folder.ts"
import { useStage } from "../support/shared-stage.ts"
import { appFiles, readTree, readVal, saveFiles, withApp, writeTree } from "../support/trees.ts"

describe("val clone, pull, push, status, diff: the folder of one val", () => {
  const stage = useStage()

  test("clone writes all files, and push saves all changes as one version with a note", async () => {
    const ada = await withApp(stage(), "tree1")
    const folder = join(ada.folder, "app")
    expect(readTree(folder)).toEqual(appFiles)
    expect(await ada.inApp("val", "status")).toBe("")
    const before = await ada.versionOf()

    write(ada, "app/main.tsx", "changed\n")
    write(ada, "app/new/deep.http.ts", "new\n")
    rmSync(join(folder, "README.md"))
    renameSync(join(folder, "lib/b.ts"), join(folder, "moved.ts"))
    expect((await ada.inApp("val", "status")).split("\n").sort()).toEqual([
      "",
      "folder\tcreated\tnew/deep.http.ts\t",
      "folder\tdeleted\tREADME.md\t",
      "folder\tmoved\tmoved.ts\tlib/b.ts",
      "folder\tsaved\tmain.tsx\t",
    ])
    const moved = (await ada.client.listFiles({ val_id: ada.id, path: "lib/b.ts" })).data[0]?.id
    const diff = await ada.inApp("val", "diff", "main.tsx")
    expect(diff).toBe(
      "--- a/main.tsx\n+++ b/main.tsx\n@@ -1,1 +1,1 @@\n-import './lib/a.ts'\n+changed\n",
    )
    const [pushed] = await ada.json(["val", "push", "-m", "four changes", "--dir", "app"])
    expect(pushed).toMatchObject({ version: before + 1, isNewVersion: true })
    expect(pushed.changes).toHaveLength(4)
    expect(await readVal(ada, ada.id)).toEqual(readTree(folder))
    const files = await ada.client.listFiles({ val_id: ada.id, path: "moved.ts" })
    // The id stays, and with it the addresses.
    expect(files.data[0]?.id).toBe(moved as string)
    const made = await ada.client.listFiles({ val_id: ada.id, path: "new/deep.http.ts" })
    expect(made.data[0]?.type).toBe("http")
    expect(await ada.inApp("val", "push")).toBe(`tree1/app@${before + 1}\n`)
    expect(await ada.versionOf()).toBe(before + 1)
  })

  test("pull merges file by file, and keeps both texts of a conflict", async () => {
    const ada = await withApp(stage(), "tree2")
    write(ada, "app/main.tsx", "mine\n")
    write(ada, "app/lib/a.ts", "mine too\n")
    await saveFiles(ada, ada.id, {
      "lib/a.ts": "theirs\n",
      "lib/b.ts": "only theirs\n",
      "c.ts": "new\n",
    })
    const refused = await ada.in("val", "push")
    expect([refused.exit, refused.stderr]).toEqual([
      5,
      'Cannot save the folder as tree2/app: the val has changed since the folder was written; fetch it with "hamlet val pull", or save over it with "--force"; old versions are kept\n',
    ])
    const pulled = await ada.in("val", "pull")
    expect(pulled.exit).toBe(5)
    expect(pulled.stderr).toContain(
      'Cannot save "lib/a.ts": both the file and the val have changed; the file now has version 2 of app, and its previous text is in "lib/a.conflict-1.ts"',
    )
    expect(readTree(join(ada.folder, "app"))).toEqual({
      ...appFiles,
      "main.tsx": "mine\n",
      "lib/a.ts": "theirs\n",
      "lib/a.conflict-1.ts": "mine too\n",
      "lib/b.ts": "only theirs\n",
      "c.ts": "new\n",
    })
    // Conflict files are for people.
    expect(await ada.inApp("val", "status")).toBe("folder\tsaved\tmain.tsx\t\n")
    await ada.inApp("val", "push")
    expect((await readVal(ada, ada.id))["main.tsx"]).toBe("mine\n")
  })

  test("pull merges changes of different lines of one file; its previous text is in the trash", async () => {
    const lines = ["one", "two", "three", "four", "five", ""]
    const toText = (...changes: readonly [at: number, line: string][]) =>
      lines.map((line, n) => changes.find(([at]) => at === n)?.[1] ?? line).join("\n")
    const ada = await withApp(stage(), "tree14", { "a.ts": toText(), "b.ts": toText() })
    const here = { "a.ts": toText([0, "mine"]), "b.ts": toText([0, "mine"]) }
    writeTree(join(ada.folder, "app"), here)
    await ada.client.changeFiles({
      val_id: ada.id,
      changes: [
        { path: "a.ts", content: toText([4, "theirs"]) },
        { path: "b.ts", newPath: "c.ts", content: toText([3, "theirs"]) },
      ],
    })
    expect(await ada.inApp("val", "pull")).toBe(
      "merged\ta.ts\tapp@2\t\nmerged\tc.ts\tapp@2\tb.ts\n",
    )
    const merged = {
      "a.ts": toText([0, "mine"], [4, "theirs"]),
      "c.ts": toText([0, "mine"], [3, "theirs"]),
    }
    expect(readTree(join(ada.folder, "app"))).toEqual(merged)
    expect(listTrash({ ...ada, folder: join(ada.folder, "app") })).toEqual(["a.ts", "c.ts"])
    await ada.inApp("val", "push")
    expect(await readVal(ada, ada.id)).toEqual(merged)
  })

  test("deletions and moves on the server are applied; a changed file is rescued or carried along", async () => {
    const ada = await withApp(stage(), "tree3")
    write(ada, "app/lib/a.ts", "mine\n")
    write(ada, "app/main.tsx", "mine\n")
    await ada.client.changeFiles({
      val_id: ada.id,
      changes: [
        { path: "lib/a.ts", delete: true },
        { path: "README.md", delete: true },
        { path: "lib/b.ts", newPath: "b/b.ts" },
        { path: "main.tsx", newPath: "index.tsx" },
      ],
    })
    const { exit, stderr } = await ada.in("val", "pull")
    expect([exit, stderr]).toEqual([
      5,
      'Cannot save "lib/a.ts": the file was deleted from app; its text is in "lib/a.conflict-1.ts"\n',
    ])
    expect(readTree(join(ada.folder, "app"))).toEqual({
      "b/b.ts": appFiles["lib/b.ts"] as string,
      "index.tsx": "mine\n",
      "lib/a.conflict-1.ts": "mine\n",
    })
    expect(await ada.inApp("val", "status")).toBe("folder\tsaved\tindex.tsx\t\n")
    expect(listTrash({ ...ada, folder: join(ada.folder, "app") })).toEqual([
      "README.md",
      "lib-a.ts",
    ])
  })

  test("--force makes one side equal to the other; overwritten texts are in the trash", async () => {
    const ada = await withApp(stage(), "tree4")
    write(ada, "app/main.tsx", "mine\n")
    rmSync(join(ada.folder, "app/README.md"))
    await saveFiles(ada, ada.id, { "main.tsx": "theirs\n", "c.ts": "theirs\n" })
    await ada.inApp("val", "push", "--force")
    const mine = { ...appFiles, "main.tsx": "mine\n" } as Record<string, string>
    delete mine["README.md"]
    expect(await readVal(ada, ada.id)).toEqual(mine)

    write(ada, "app/main.tsx", "again\n")
    rmSync(join(ada.folder, "app/lib/a.ts"))
    renameSync(join(ada.folder, "app/lib/b.ts"), join(ada.folder, "app/b.ts"))
    await ada.inApp("val", "pull", "--force")
    expect(readTree(join(ada.folder, "app"))).toEqual(mine)
    expect(read(ada, "app/.hamlet/trash", list(ada, "app/.hamlet/trash")[0] ?? "")).toBe("again\n")
  })

  test("push --create makes a val of a folder, without what is ignored", async () => {
    const ada = await stage().person("tree5")
    const files = { "index.ts": "1", "sub/empty.txt": "", ".hamletignore": "*.log\n!keep.log\n" }
    const more = { "a.log": "", "keep.log": "k", ".env": "SECRET=1", "node_modules/x/i.js": "x" }
    writeTree(ada.folder, { ...files, ...more })
    await ada.print(["val", "push", "--create", "made", "--privacy", "unlisted"])
    const val = await ada.client.getValByName({ username: "tree5", val_name: "made" })
    expect(val).toMatchObject({ privacy: "unlisted", version: 1, code: "1" })
    expect(await readVal(ada, val.id)).toEqual({ ...files, "keep.log": "k" })
    expect((await ada.hamlet(["val", "push", "--create", "made2"])).exit).toBe(5)
    // A file that is tracked stays so when it is ignored later.
    write(ada, ".hamletignore", "*\n")
    write(ada, "index.ts", "2")
    await ada.print(["val", "push"])
    expect((await readVal(ada, val.id))["index.ts"]).toBe("2")
  })

  test("paths of the server cannot leave the folder, nor reach the files of Git or of this program", async () => {
    const ada = await withApp(stage(), "tree6")
    await saveFiles(ada, ada.id, {
      ".git/hooks/pre-commit": "evil",
      "lib/.Hamlet/state.json": "{}",
      "ok.ts": "ok",
    })
    const { exit, stderr } = await ada.in("val", "pull")
    expect([exit, stderr]).toEqual([
      1,
      'Cannot write ".git/hooks/pre-commit": the path must not contain the name .git\nCannot write "lib/.Hamlet/state.json": the path must not contain the name .Hamlet\n',
    ])
    const folder = join(ada.folder, "app")
    expect([read(ada, "app/ok.ts"), existsSync(join(folder, ".git"))]).toEqual(["ok", false])

    // A folder that is a link: neither written through, nor taken for deleted files.
    mkdirSync(join(ada.folder, "elsewhere"))
    rmSync(join(folder, "lib"), { recursive: true })
    symlinkSync(join(ada.folder, "elsewhere"), join(folder, "lib"))
    await saveFiles(ada, ada.id, { "lib/a.ts": "theirs", "lib/c.ts": "theirs" })
    const linked = await ada.in("val", "pull")
    expect([linked.exit, linked.stderr]).toEqual([
      1,
      expect.stringContaining('Cannot write "lib/c.ts": "lib" is not a folder\n'),
    ])
    const pushed = await ada.in("val", "push", "--force")
    expect([pushed.exit, pushed.stderr]).toEqual([
      1,
      expect.stringContaining('Cannot save "lib": it is a link; to leave it out, add "lib"'),
    ])
    expect(list(ada, "elsewhere")).toEqual([])
    expect((await readVal(ada, ada.id))["lib/a.ts"]).toBe("theirs")
  })

  test("a state that leads elsewhere, or to another server, is refused", async () => {
    const ada = await withApp(stage(), "tree7")
    const path = "app/.hamlet/state.json"
    const state = JSON.parse(read(ada, path))
    const [file] = Object.values(state.val.files)
    const outside = join(ada.folder, "outside.ts")
    write(ada, "outside.ts", "precious")
    const bad: readonly [string, object][] = [
      ["..", { files: { "../outside.ts": file } }],
      ["absolute", { files: { [outside]: file } }],
      ["reserved", { files: { ".hamlet/state.json": file } }],
      ["proto", { files: { "a\\b": file } }],
      ["no id", { val: { ...state.val.val, id: "../../me" } }],
      ["no version", { version: -1 }],
      ["no type", { files: { "a.ts": { ...(file as object), type: "evil" } } }],
    ]
    for (const [what, change] of bad) {
      write(ada, path, JSON.stringify({ val: { ...state.val, ...change } }))
      for (const verb of ["pull", "push", "status"]) {
        const { exit, stderr } = await ada.in("val", verb)
        expect([what, verb, exit, stderr]).toEqual([
          what,
          verb,
          1,
          expect.stringContaining("its content is not valid"),
        ])
      }
    }
    write(ada, path, JSON.stringify({ val: { ...state.val, server: "http://evil.test" } }))
    expect((await ada.in("val", "push")).stderr).toContain("it is a folder of http://evil.test")
    expect(readFileSync(outside, "utf8")).toBe("precious")
  }, 60_000)

  test("what a val cannot contain is named and left out; the rest is saved", async () => {
    const ada = await withApp(stage(), "tree8")
    write(ada, "app/logo.png", new Uint8Array([0x89, 0x50, 0xff, 0]))
    write(ada, "app/nul.txt", "a\0b")
    write(ada, "app/long.txt", "x".repeat(256_001))
    write(ada, "app/my file.txt", "space")
    write(ada, "app/good.txt", "good")
    const { exit, stderr } = await ada.in("val", "push")
    expect(exit).toBe(1)
    for (const sentence of [
      'Cannot save "logo.png": it is not UTF-8 text; to leave it out, add "logo.png" to .hamletignore',
      'Cannot save "nul.txt": it is not text, it contains NUL',
      'Cannot save "long.txt": it has 256001 characters, and a file has at most 256000',
      'Cannot save "my file.txt": the path must contain only letters',
    ])
      expect(stderr).toContain(sentence)
    expect(await readVal(ada, ada.id)).toEqual({ ...appFiles, "good.txt": "good" })
    write(ada, "app/.hamletignore", "*.png\nnul.txt\nlong.txt\nmy file.txt\n")
    await ada.inApp("val", "push")
    for (let n = 0; n < 1_001; n++) write(ada, `app/many/${n}.txt`, "")
    const version = await ada.versionOf()
    expect((await ada.in("val", "push")).stderr).toContain(
      "Cannot save 1001 changes: one version has at most 1000",
    )
    rmSync(join(ada.folder, "app/many/0.txt"))
    expect((await ada.in("val", "push")).exit).toBe(5)
    expect(await ada.versionOf()).toBe(version)
  }, 60_000)

  test("a file in the folder of a val is not a val; another user's val cannot be saved", async () => {
    const ada = await withApp(stage(), "tree9")
    expect((await ada.in("val", "push", "lib/a.ts")).stderr).toContain(
      'Cannot save "lib/a.ts" as a val: it is in the folder of tree9/app; save the whole folder',
    )
    const named = await ada.in("val", "pull", "app")
    expect([named.exit, named.stderr]).toEqual([
      2,
      'Cannot use ".": it is the folder of one val; name another folder\n',
    ])
    const bob = await stage().person("tree10")
    await bob.print(["val", "clone", "tree9/app", "copy"])
    expect(readTree(join(bob.folder, "copy"))).toEqual(appFiles)
    write(bob, "copy/main.tsx", "bob's")
    const pushed = await bob.hamlet(["val", "push"], { cwd: join(bob.folder, "copy") })
    expect([pushed.exit, await ada.versionOf()]).toEqual([3, 1])
    expect(pushed.stderr).toContain(
      'it belongs to tree9; make a copy of your own with "hamlet val fork"',
    )
    const unknown = await ada.hamlet(["val", "clone", "app"])
    expect([unknown.exit, unknown.stderr]).toEqual([
      4,
      'Cannot find user "app"; to clone one val, write its owner too, as in "ada/app"\n',
    ])
    expect((await bob.hamlet(["val", "clone", "tree9/app", "."])).exit).toBe(5)
  })

  test("branches: create, switch, list, diff, delete", async () => {
    const ada = await withApp(stage(), "tree11")
    expect(await ada.inApp("branch", "create", ".", "draft")).toBe("draft\n")
    write(ada, "app/main.tsx", "not saved")
    const refused = await ada.in("branch", "switch", "draft")
    expect([refused.exit, refused.stderr]).toEqual([
      5,
      'Cannot switch: "main.tsx" has local changes; save them with "hamlet val push", or discard them with "--force"\n',
    ])
    await ada.inApp("branch", "switch", "draft", "--force")
    write(ada, "app/main.tsx", "draft\n")
    rmSync(join(ada.folder, "app/lib/b.ts"))
    await ada.inApp("val", "push")
    expect(await readVal(ada, ada.id)).toEqual(appFiles)
    expect(await ada.inApp("branch", "diff", ".", "draft")).toBe(
      "--- a/lib/b.ts\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-export const b = 2\n--- a/main.tsx\n+++ b/main.tsx\n@@ -1,1 +1,1 @@\n-import './lib/a.ts'\n+draft\n",
    )
    await ada.inApp("branch", "switch", "main")
    expect(readTree(join(ada.folder, "app"))).toEqual(appFiles)
    const rows = (await ada.inApp("branch", "list", "app")).trim().split("\n")
    expect(rows.map((row) => row.split("\t").slice(0, 2))).toEqual([
      ["main", "1"],
      ["draft", "1"],
    ])
    await ada.inApp("branch", "delete", "app", "draft", "--yes")
    expect((await ada.in("branch", "switch", "draft")).exit).toBe(4)
  })

  test("branch merge takes changes into the parent, and names conflicts", async () => {
    const ada = await withApp(stage(), "tree13")
    await ada.inApp("branch", "create", ".", "draft")
    await ada.inApp("branch", "switch", "draft")
    write(ada, "app/lib/a.ts", "draft\n")
    await ada.inApp("val", "push")
    await saveFiles(ada, ada.id, { "lib/b.ts": "main\n" })
    expect(await ada.json(["branch", "merge", "app", "draft", "-m", "merged"])).toMatchObject([
      { version: 3, isNewVersion: true },
    ])
    const merged = { ...appFiles, "lib/a.ts": "draft\n", "lib/b.ts": "main\n" }
    expect(await readVal(ada, ada.id)).toEqual(merged)
    await saveFiles(ada, ada.id, { "main.tsx": "main\n" })
    write(ada, "app/main.tsx", "draft\n")
    await ada.inApp("val", "push")
    const refused = await ada.in("branch", "merge", ".", "draft")
    expect([refused.exit, refused.stderr]).toEqual([
      5,
      'Cannot merge: both branches have changed the same lines of "main.tsx"; merge them in the folder of main or in the web app, or take one side with "--take"\n',
    ])
    expect((await readVal(ada, ada.id))["main.tsx"]).toBe("main\n")
    await ada.inApp("branch", "merge", ".", "draft", "--take", "theirs")
    expect((await readVal(ada, ada.id))["main.tsx"]).toBe("draft\n")
  })

  test("file list, cat, mv, type, rm; env set, list, delete", async () => {
    const ada = await withApp(stage(), "tree12")
    const rows = (await ada.print(["file", "list", "app"])).trim().split("\n")
    expect(rows.map((row) => row.split("\t").slice(0, 2))).toEqual([
      ["README.md", "file"],
      ["lib", "directory"],
      ["lib/a.ts", "script"],
      ["lib/b.ts", "script"],
      ["main.tsx", "script"],
    ])
    expect(await ada.print(["file", "cat", "app", "lib/a.ts"])).toBe("export const a = 1\n")
    expect(await ada.print(["file", "mv", "app", "lib/a.ts", "a.ts"])).toBe("tree12/app@2\n")
    expect(await ada.print(["file", "type", "app", "a.ts", "http"])).toBe("http\n")
    expect(await ada.print(["file", "rm", "app", "lib", "README.md", "--yes"])).toBe(
      "tree12/app@4\n",
    )
    expect(Object.keys(await readVal(ada, ada.id))).toEqual(["a.ts", "main.tsx"])
    expect((await ada.hamlet(["file", "cat", "app", "lib/a.ts"])).exit).toBe(4)
    expect(await ada.print(["file", "cat", "app", "lib/a.ts", "--version", "1"])).not.toBe("")

    for (const input of ["one\n", "two\n"])
      await ada.print(["env", "set", "app", "API_KEY", "--description", "for tests"], { input })
    expect(await ada.json(["env", "list", "app"])).toMatchObject([
      { key: "API_KEY", description: "for tests", updatedAt: expect.any(String) },
    ])
    await ada.print(["env", "delete", "app", "API_KEY", "--yes"])
    expect(await ada.print(["env", "list", "app"])).toBe("")
  })
})
