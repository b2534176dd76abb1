import { describe, expect, test } from "bun:test"
import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { list, listTrash, read, write } from "../support/folder.ts"
import { openGate } from "../support/gate.ts"
import { useStage } from "../support/shared-stage.ts"
import type { Person, Stage } from "../support/stage.ts"
import { expectSameTrees, readTree, writeTree } from "../support/trees.ts"
import { until } from "../support/until.ts"

type Files = Readonly<Record<string, string>>

/** A user with a val of several files, and its folder `app`. */
async function withApp(stage: Stage, username: string, files: Files = appFiles) {
  const person = await stage.person(username)
  const { id } = await person.client.createFolder({ name: "app", privacy: "public" })
  await save(person, id, files)
  await person.print(["val", "clone", `${username}/app`])
  const inApp = { cwd: join(person.folder, "app") }
  return {
    ...person,
    id,
    in: (...args: string[]) => person.hamlet(args, inApp),
    inApp: (...args: string[]) => person.print(args, inApp),
    versionOf: async () => (await person.client.getBranch({ val_id: id, branch_id: id })).version,
  }
}

const appFiles: Files = {
  "main.tsx": "import './lib/a.ts'\n",
  "lib/a.ts": "export const a = 1\n",
  "lib/b.ts": "export const b = 2\n",
  "README.md": "# App\n",
}

async function save({ client }: Person, id: string, files: Files): Promise<void> {
  const changes = Object.entries(files).map(([path, content]) => ({ path, content }))
  await client.changeFiles({ val_id: id, changes })
}

/** The text of each file on the server. */
async function readVal({ client }: Person, id: string, branch = id): Promise<Files> {
  const query = { val_id: id, branch_id: branch }
  const files = client.items("listFiles", { ...query, path: "", recursive: true, limit: 100 })
  const texts: Record<string, string> = {}
  for await (const { path, type } of files)
    if (type !== "directory")
      texts[path] = await (await client.getFileContent({ ...query, path })).text()
  return texts
}

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
    await save(ada, ada.id, { "lib/a.ts": "theirs\n", "lib/b.ts": "only theirs\n", "c.ts": "new\n" })
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
    await save(ada, ada.id, { "main.tsx": "theirs\n", "c.ts": "theirs\n" })
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
})
