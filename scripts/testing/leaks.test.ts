import { describe, expect, test } from "bun:test"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { withTempTree } from "../temp-tree.ts"
import { collectLeaks } from "./leaks.mjs"

describe("collectLeaks", () => {
  test("finds nothing after a clean run", async () => {
    const leaks = await withTempTree({}, (folder) =>
      collectLeaks({ folders: [folder], marker: crypto.randomUUID() }),
    )
    expect(leaks).toEqual([])
  })

  test("names files in the temporary folders", async () => {
    const leaks = await withTempTree({ "one/val.sock": "", "other/hamlet.db": "" }, (folder) =>
      collectLeaks({
        folders: ["one", "other"].map((name) => join(folder, name)),
        marker: crypto.randomUUID(),
      }),
    )
    expect(leaks).toEqual(
      ["val.sock", "hamlet.db"].map((name) => `file in the temporary folder: ${name}`),
    )
  })

  test.skipIf(process.platform !== "linux")(
    "names and ends processes with the marker in their environment",
    async () => {
      const marker = crypto.randomUUID()
      const child = spawn("sleep", ["60"], { env: { ...process.env, MARKER: marker } })
      const hasEnded = once(child, "exit")
      const leaks = await withTempTree({}, (folder) =>
        collectLeaks({ folders: [folder], marker }, 100),
      )
      expect(leaks).toEqual([`process ${child.pid}: sleep 60`])
      expect(await hasEnded).toEqual([null, "SIGKILL"])
    },
  )
})
