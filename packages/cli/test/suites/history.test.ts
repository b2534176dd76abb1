import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import { SQL } from "bun"
import { useStage } from "../support/shared-stage.ts"
import { openStage, type Person, type Stage } from "../support/stage.ts"
import { withApp } from "../support/trees.ts"

type Changes = Parameters<Person["client"]["changeFiles"]>[0]["changes"]

/** A val with two branches whose files were changed in every way. */
async function makeHistory(stage: Stage, username: string) {
  const ada = await withApp(stage, username)
  const save = (branch_id: string, note: string | undefined, changes: Changes) =>
    ada.client.changeFiles({ val_id: ada.id, branch_id, note, changes })
  await save(ada.id, "moves and a type", [
    { path: "lib/a.ts", newPath: "src/deep/a.ts", content: "moved\r\n" },
    { path: "lib/b.ts", newPath: "b.ts" },
    { path: "main.tsx", type: "http", content: "\ufeffmain é 漢字\n" },
    { path: "empty.txt", content: "" },
  ])
  const draft = await ada.client.createBranch({ val_id: ada.id, name: "draft" })
  await save(ada.id, undefined, [{ path: "README.md", delete: true }])
  await save(draft.id, "on draft", [
    { path: "src", delete: true },
    { path: "b.ts", newPath: "c.ts" },
  ])
  await save(draft.id, undefined, [
    { path: "b.ts", content: "a new file at an old path\n" },
    { path: "folder", type: "directory" },
  ])
  const inner = await ada.client.createBranch({
    val_id: ada.id,
    name: "inner",
    branchId: draft.id,
  })
  await save(inner.id, undefined, [{ path: "c.ts", content: "inner\n" }])
  await save(ada.id, "last", [
    { path: "b.ts", newPath: "main.tsx.old" },
    { path: "main.tsx", delete: true },
    { path: "main.tsx", content: "made anew\n", type: "script" },
  ])
  await ada.client.createComment({ val_id: ada.id, comment: "my own" })
  return ada
}

/** All versions of all branches, without ids and times. */
async function describeHistory({ client }: Person, id: string) {
  const branches = await Array.fromAsync(client.items("listBranches", { val_id: id }))
  const names = new Map(branches.map((one) => [one.id, one.name]))
  return Promise.all(
    branches.map(async ({ id: branch_id, name, version, forkedBranchId }) => {
      const versions = []
      for (let n = 0; n <= version; n++) {
        const query = { val_id: id, branch_id, version: n }
        const { data } = await client.listFiles({ ...query, path: "", recursive: true, limit: 100 })
        const files = data.map(async ({ path, type, version: since }) => {
          const isFile = type !== "directory"
          const response = isFile ? await client.getFileContent({ ...query, path }) : undefined
          return [
            path,
            type,
            since,
            response && Buffer.from(await response.bytes()).toString("hex"),
          ]
        })
        versions.push(await Promise.all(files))
      }
      const { data } = await client.listHistory({ val_id: id, branch_id })
      const history = data.map(({ version: n, note, changes }) => [n, note, changes])
      const diff = (await client.getBranchDifference({ val_id: id, branch_id })).data
      return { name, from: names.get(forkedBranchId ?? ""), versions, history, diff }
    }),
  )
}

describe("export --history, import", () => {
  const stage = useStage()

  const roundTrip = async (on: Stage) => {
    const [ada, bob] = [await makeHistory(on, "history1"), await on.person("history2")]
    expect(await ada.json(["export", "app.zip", "app", "--history"])).toMatchObject([
      { vals: 1, versions: 9 },
    ])
    const imported = ["import", join(ada.folder, "app.zip")]
    expect((await bob.json([...imported, "--dry-run"]))[0]).toMatchObject({ status: "created" })
    expect((await bob.json(imported))[0]).toMatchObject({ status: "created", version: 4 })
    const { id, privacy } = await bob.client.getFolderByName({
      username: "history2",
      val_name: "app",
    })
    expect(privacy).toBe("public")
    expect(await describeHistory(bob, id)).toEqual(await describeHistory(ada, ada.id))
    const { data } = await bob.client.listComments({ val_id: id })
    expect(data.map(({ comment }) => comment)).toEqual(["my own"])
    expect((await bob.json(imported))[0]).toMatchObject({ status: "unchanged", version: 4 })
    return { ada, bob, id, imported }
  }

  test("a val comes back with every version of all files and branches", async () => {
    const { ada, bob, id, imported } = await roundTrip(stage())
    // An import that was interrupted goes on where it was.
    await bob.client.deleteFolder({ val_id: id })
    const half = await bob.client.createFolder({ name: "app", privacy: "public" })
    const texts = {
      "main.tsx": "import './lib/a.ts'\n",
      "lib/a.ts": "export const a = 1\n",
      "lib/b.ts": "export const b = 2\n",
      "README.md": "# App\n",
    }
    const changes = Object.entries(texts).map(([path, content]) => ({ path, content }))
    await bob.client.changeFiles({ val_id: half.id, changes })
    expect((await bob.json(imported))[0]).toMatchObject({ status: "updated", version: 4 })
    expect(await describeHistory(bob, half.id)).toEqual(await describeHistory(ada, ada.id))
    // What was changed since is not overwritten.
    await bob.client.changeFiles({ val_id: half.id, changes: [{ path: "x.ts", content: "x" }] })
    expect((await bob.json(imported))[0]).toMatchObject({ status: "skipped" })
    const failed = await bob.hamlet([...imported, "--if-exists", "fail"])
    expect([failed.exit, failed.stderr]).toEqual([
      1,
      expect.stringContaining('Cannot import val "app": a val with other files has this name'),
    ])
    // Without the history, the newest files are imported.
    const carl = await stage().person("history3")
    await carl.print([...imported, "--versions", "1"])
    const val = await carl.client.getValByName({ username: "history3", val_name: "app" })
    expect([val.code, val.branchCount]).toEqual(["made anew\n", 1])
  }, 120_000)

  const serverUrl = process.env.HAMLET_TEST_POSTGRES_URL
  test.skipIf(serverUrl === undefined)(
    "the same on PostgreSQL",
    async () => {
      const name = `hamlet_cli_${process.pid}_${Date.now()}`
      const admin = new SQL(serverUrl ?? "")
      await admin.unsafe(`create database ${name}`)
      try {
        const url = new URL(serverUrl ?? "")
        url.pathname = name
        await using postgres = await openStage(url.href)
        await roundTrip(postgres)
      } finally {
        await admin.unsafe(`drop database ${name} with (force)`)
        await admin.close()
      }
    },
    120_000,
  )
})
