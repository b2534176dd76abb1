import { describe, expect, test } from "bun:test"
import { useStage } from "../support/shared-stage.ts"

describe("schedule", () => {
  const stage = useStage()

  test("set, show, list, pause, resume and rm manage the schedule of a val", async () => {
    const ada = await stage().person("schedule1")
    await ada.client.saveVal({ name: "report", code: "export default () => 1", type: "interval" })
    expect(await ada.print(["schedule", "list"])).toBe("")
    const set = ["schedule", "set", "report", "--cron", "0 9 1 1 *"]
    expect(await ada.json([...set, "--time-zone", "Europe/Berlin"])).toMatchObject([
      { cron: "0 9 1 1 *", timeZone: "Europe/Berlin", isPaused: false, overlap: "skip" },
    ])
    const shown = await ada.print(["schedule", "show", "report"])
    expect(shown).toContain("at 09:00, on day 1 of the month, only in January in Europe/Berlin")
    expect(await ada.json(["schedule", "pause", "report"])).toMatchObject([{ nextAt: [] }])
    expect(await ada.print(["schedule", "list"])).toMatch(/^schedule1\/report\t.*\tpaused\t/)
    const [resumed] = await ada.json(["schedule", "resume", "report"])
    expect(resumed).toMatchObject({ isPaused: false })
    await ada.print(["schedule", "set", "report", "--every", "90m", "--overlap", "queue"])
    expect(await ada.client.getSchedule({ val_id: resumed.val.id })).toMatchObject({
      every: "90m",
      cron: null,
      overlap: "queue",
    })
    const changes = [{ path: "jobs/clean.ts", type: "interval" as const, content: "export {}" }]
    await ada.client.changeFiles({ val_id: resumed.val.id, changes })
    const clean = ["report", "--file", "jobs/clean.ts"]
    expect(await ada.json(["schedule", "pause", ...clean])).toMatchObject([
      { file: { path: "jobs/clean.ts" }, branch: { name: "main" }, every: "1h", isPaused: true },
    ])
    expect(await ada.print(["schedule", "list"])).toContain("jobs/clean.ts\tmain\n")
    await ada.print(["schedule", "rm", ...clean, "--branch", "main", "--yes"])
    expect(await ada.print(["schedule", "rm", "report", "--yes"])).toBe("schedule1/report\n")
    expect((await ada.hamlet(["schedule", "show", "report"])).exit).toBe(4)
  })

  test("set says what is wrong with an expression, and what it needs", async () => {
    const ada = await stage().person("schedule2")
    await ada.client.saveVal({ name: "report", code: "export default () => 1", type: "interval" })
    const wrong = await ada.hamlet(["schedule", "set", "report", "--cron", "61 * * * *"])
    expect(wrong.exit).not.toBe(0)
    expect(wrong.stderr.match(/invalid value for minute: 61/g)).toHaveLength(1)
    const empty = await ada.hamlet(["schedule", "set", "report"])
    expect(empty.stderr).toContain("--cron or --every")
  })

  test("preview prints the next ten times", async () => {
    const ada = await stage().person("schedule3")
    const times = await ada.print(["schedule", "preview", "--cron", "0 9 * * 1-5"])
    expect(times.trim().split("\n")).toHaveLength(10)
    expect(times).toMatch(/^\d{4}-\d\d-\d\dT09:00:00\.000Z\n/)
  })
})
