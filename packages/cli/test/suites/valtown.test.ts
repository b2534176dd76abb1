import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import { write } from "../support/folder.ts"
import { useStage } from "../support/shared-stage.ts"
import { readVal, saveFiles, withApp, writeTree } from "../support/trees.ts"

describe("import --from-valtown", () => {
  const stage = useStage()

  test("reads a folder that vt made, and says what it cannot know", async () => {
    const ada = await stage().person("town1")
    const files = {
      "http.ts": "export default () => new Response()\n",
      "lib/cron-job.ts": "cron\n",
      "README.md": "# Blog\n",
    }
    writeTree(join(ada.folder, "blog"), { ...files, ".vt/state.json": '{"valId":"x"}' })
    write(ada, "blog/logo.png", new Uint8Array([255, 0]))
    const { exit, stdout, stderr } = await ada.hamlet(["import", "--from-valtown", "blog"])
    expect([exit, stdout.split("\t").slice(0, 3)]).toEqual([1, ["created", "blog", "1"]])
    expect(stderr).toContain('Cannot save "logo.png": it is not UTF-8 text')
    expect(stderr).toContain("blog: the schedule of lib/cron-job.ts cannot be read")
    expect(stderr).toContain("blog: its environment variables are not known")
    const val = await ada.client.getValByName({ username: "town1", val_name: "blog" })
    expect(await readVal(ada, val.id)).toEqual(files)
    const { data } = await ada.client.listFiles({ val_id: val.id, path: "", recursive: true })
    expect(data.map(({ path, type }) => [path, type])).toEqual([
      ["README.md", "file"],
      ["http.ts", "http"],
      ["lib", "directory"],
      ["lib/cron-job.ts", "interval"],
    ])
    expect((await ada.hamlet(["import", "--from-valtown", "nothing"])).exit).toBe(4)
    expect((await ada.hamlet(["import", "--from-valtown", "."], { cwd: ada.configDir })).exit).toBe(
      2,
    )
  })

  test("reads vals with branches, types and names of variables from the API", async () => {
    const [ada, bob] = [await withApp(stage(), "town2"), await stage().person("town3")]
    await ada.client.updateFile({ val_id: ada.id, path: "lib/a.ts", type: "http" })
    const { id: draft } = await ada.client.createBranch({ val_id: ada.id, name: "draft" })
    await ada.client.changeFiles({
      val_id: ada.id,
      branch_id: draft,
      changes: [
        { path: "lib/b.ts", delete: true },
        { path: "new.ts", content: "new" },
      ],
    })
    await ada.client.createEnvironmentVariable({ val_id: ada.id, key: "API_KEY", value: "1" })
    const args = ["import", "--from-valtown", "--api-url", stage().url]
    const env = { VAL_TOWN_API_KEY: ada.token }
    expect(await bob.print([...args, "--dry-run"], { env })).toBe("created\tapp\t\t\n")
    const { exit, stdout, stderr } = await bob.hamlet(args, { env })
    expect([exit, stdout]).toEqual([0, "created\tapp\t1\t\n"])
    expect(stderr).toContain('app: set the value of API_KEY with "hamlet env set app API_KEY"')
    const val = await bob.client.getValByName({ username: "town3", val_name: "app" })
    expect(val.privacy).toBe("public")
    expect(await readVal(bob, val.id)).toEqual(await readVal(ada, ada.id))
    const branches = (await bob.client.listBranches({ val_id: val.id })).data
    expect(branches.map(({ name }) => name)).toEqual(["main", "draft"])
    expect(await readVal(bob, val.id, branches[1]?.id)).toEqual(await readVal(ada, ada.id, draft))
    const [file] = (await bob.client.listFiles({ val_id: val.id, path: "lib/a.ts" })).data
    expect(file?.type).toBe("http")

    await saveFiles(ada, ada.id, { "main.tsx": "newer\n" })
    expect(await bob.print([...args, "town2/app"], { env })).toStartWith("skipped\tapp")
    expect(await bob.print([...args, "--if-exists", "version"], { env })).toStartWith(
      "updated\tapp",
    )
    expect((await readVal(bob, val.id))["main.tsx"]).toBe("newer\n")
    expect((await bob.hamlet(args)).stderr).toContain("there is no token")
  })
})
