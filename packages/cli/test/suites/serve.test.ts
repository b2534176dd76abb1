import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import { useStage } from "../support/shared-stage.ts"

describe("serve", () => {
  const stage = useStage()

  test("starts the server with its flags, ends together with it, and has its exit code", async () => {
    const { admin } = stage()
    const data = join(admin.folder, "served")
    await using served = admin.start(
      ["serve", "--port", "0", "--data-dir", data, "--user", "grace"],
      {
        env: { HAMLET_PROCESSES_READY: "0" },
      },
    )
    const [, url = ""] = await served.waitFor(/listens at (\S+)[\s\S]*docs {2,}\S+\n/)
    const [, token = ""] = await served.waitFor(/token {2,}(\S+)/)
    expect(
      await admin.json(["whoami"], { env: { HAMLET_URL: url, HAMLET_TOKEN: token } }),
    ).toMatchObject([{ username: "grace" }])
    served.signal("SIGTERM")
    expect((await served.ended()).exit).toBe(0)
    expect(await fetch(`${url}/healthz`).catch(() => "gone")).toBe("gone")
  })

  test("prints the server's error for unknown flags", async () => {
    expect(await stage().admin.hamlet(["serve", "--frobnicate", "--json"])).toMatchObject({
      exit: 1,
      stderr: expect.stringContaining("--frobnicate"),
    })
  })
})
