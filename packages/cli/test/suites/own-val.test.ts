import { describe, expect, test } from "bun:test"
import { write } from "../support/folder.ts"
import { useStage } from "../support/shared-stage.ts"
import { withApp } from "../support/trees.ts"
import { until } from "../support/until.ts"

const files = {
  "main.ts": 'export default () => { console.log("from main"); return "main" }\n',
  "jobs/clean.ts":
    'import { word } from "../lib.ts"\nexport default (n = 0) => { console.log(`from ${word}`); return [word, n] }\n',
  "lib.ts": 'export const word = "clean"\n',
}

describe("commands in the folder of one val", () => {
  const stage = useStage()

  test("run --file and logs --file mean one file, on the branch of the folder", async () => {
    const ada = await withApp(stage(), "own1", files)
    expect(await ada.inApp("run")).toBe("main\n")
    expect(await ada.inApp("run", "--file", "jobs/clean.ts")).toBe('["clean",0]\n')
    expect(await ada.inApp("run", ".", "7", "--file", "jobs/clean.ts")).toBe('["clean",7]\n')
    expect(await ada.print(["run", "app", "--file", "jobs/clean.ts"])).toBe('["clean",0]\n')
    const missing = await ada.in("run", "--file", "jobs/none.ts")
    expect([missing.exit, missing.stderr]).toEqual([4, expect.stringContaining("jobs/none.ts")])

    await ada.inApp("branch", "create", "draft")
    await ada.inApp("branch", "switch", "draft")
    await ada.client.changeFiles({
      val_id: ada.id,
      branch_id: (await ada.json(["branch", "list", "app"]))[1].id,
      changes: [{ path: "lib.ts", content: 'export const word = "draft"\n' }],
    })
    expect(await ada.inApp("run", "--file", "jobs/clean.ts")).toBe('["draft",0]\n')
    expect(await ada.inApp("run", "--file", "jobs/clean.ts", "--branch", "main")).toBe(
      '["clean",0]\n',
    )

    // Runs are written a little late.
    const messages = async (...args: string[]) =>
      (await ada.inApp("logs", ...args))
        .trim()
        .split("\n")
        .map((line) => line.split("\t")[4])
    const isThere = async () => (await messages("--file", "jobs/clean.ts")).length === 5
    await until(isThere, "the runs are listed")
    expect(await messages("--file", "jobs/clean.ts")).toEqual([
      "from clean",
      "from clean",
      "from clean",
      "from draft",
      "from clean",
    ])
    expect(await messages("--file", "jobs/clean.ts", "--branch", "draft")).toEqual(["from draft"])
    expect(await messages("--file", "main.ts")).toEqual(["from main"])
    expect(await ada.print(["logs", "app", "--file", "main.ts", "-n", "1"])).toContain("from main")
    expect(await ada.print(["logs", "app", "--file", "none.ts"])).toBe("")
    await ada.client.createVal({ name: "elsewhere", code: "console.log('from elsewhere')\n" })
    await ada.print(["run", "elsewhere"])
    const isListed = async () => (await messages("--all")).includes("from elsewhere")
    await until(isListed, "the run of the other val is listed")
    expect(await messages("-n", "99")).not.toContain("from elsewhere")
  }, 120_000)

  test("branch, file and env need no name of the val there, and elsewhere they do", async () => {
    const ada = await withApp(stage(), "own2")
    expect(await ada.inApp("branch", "create", "draft")).toBe("draft\n")
    expect((await ada.inApp("branch", "list")).split("\n")[1]).toStartWith("draft\t")
    expect(await ada.inApp("branch", "diff", "draft")).toBe("")
    expect(await ada.inApp("file", "cat", "lib/a.ts")).toBe("export const a = 1\n")
    expect(await ada.inApp("file", "mv", "lib/a.ts", "a.ts")).toBe("own2/app@2\n")
    expect(await ada.inApp("file", "type", "a.ts", "http")).toBe("http\n")
    expect(await ada.inApp("file", "rm", "lib/b.ts", "main.tsx", "--yes")).toBe("own2/app@4\n")
    expect(await ada.inApp("file", "rm", "a.ts", "--yes")).toBe("own2/app@5\n")
    expect((await ada.inApp("file", "list")).split("\t")[0]).toBe("README.md")
    const input = { input: "secret", cwd: `${ada.folder}/app` }
    await ada.print(["env", "set", "API_KEY"], input)
    expect((await ada.inApp("env", "list")).split("\t")[0]).toBe("API_KEY")
    await ada.inApp("env", "delete", "API_KEY", "--yes")
    await ada.inApp("branch", "delete", "draft", "--yes")
    expect(await ada.inApp("branch", "list", "--json")).toContain('"name":"main"')
    for (const args of [["branch", "list"], ["file", "cat", "a.ts"], ["run"], ["env", "list"]]) {
      const { exit, stderr } = await ada.hamlet(args)
      expect([args, exit, stderr]).toEqual([
        args,
        2,
        expect.stringContaining("missing required argument"),
      ])
    }
    expect(await ada.inApp("branch", "create", "--help")).toStartWith(
      "Usage: hamlet branch create [options] [val] <branch>\n",
    )
  }, 120_000)

  test("branch switch -c takes changes along; version list and diff mean the branch and the place", async () => {
    const ada = await withApp(stage(), "own3")
    write(ada, "app/lib/a.ts", "changed\n")
    write(ada, "app/main.tsx", "changed\n")
    await ada.inApp("branch", "switch", "-c", "draft")
    expect(await ada.inApp("val", "status")).toBe(
      "folder\tsaved\tlib/a.ts\t\nfolder\tsaved\tmain.tsx\t\n",
    )
    const inLib = { cwd: `${ada.folder}/app/lib` }
    for (const [args, options] of [
      [["val", "diff", "a.ts"], inLib],
      [["val", "diff", "."], inLib],
      [["val", "diff", "lib"], { cwd: `${ada.folder}/app` }],
    ] as const)
      expect((await ada.print(args, options)).split("\n").slice(0, 2)).toEqual([
        "--- a/lib/a.ts",
        "+++ b/lib/a.ts",
      ])
    await ada.inApp("val", "push", "-m", "on draft")
    const rows = async (...args: string[]) =>
      (await ada.inApp("version", "list", ...args))
        .trim()
        .split("\n")
        .map((row) => row.split("\t"))
    expect((await rows())[0]).toEqual(["1", expect.any(String), "2", "on draft"])
    expect((await rows("--file", "lib/b.ts")).map(([version]) => version)).toEqual(["0"])
    expect((await rows("--branch", "main"))[0]?.slice(0, 2)).toEqual(["*", "1"])
    expect((await ada.in("push")).stderr).toBe(
      "Cannot parse the command line: unknown command 'push'; use \"hamlet val push\"\n",
    )
  }, 120_000)
})
