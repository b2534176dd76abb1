import { describe, expect, test } from "bun:test"
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { ApiError, createClient } from "@hamlet/contract/client"
import { chosenToken, openStage, type Stage } from "../support/stage.ts"

const gone =
  /^Cannot use the database: ".+hamlet\.db" was removed or replaced while the server runs; .+$/

async function catchApiError(promise: Promise<unknown>): Promise<ApiError> {
  const error = await promise.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!(error instanceof ApiError))
    throw new Error(`expected an error of the API, and not ${error}`)
  return error
}

describe("hamlet serve", () => {
  test("acknowledges nothing once its data folder was removed, and says so", async () => {
    await using stage = await openStage()
    const { hamlet, baseUrl } = await stage.serve({ HAMLET_PROCESSES_READY: "0" })
    const client = createClient({ baseUrl, token: chosenToken, retriesMax: 0 })
    await client.createVal({ name: "kept", code: "1" })
    await client.executeSql({ statement: "create table t (x)" })
    const away = `${stage.dataDir}-away`
    renameSync(stage.dataDir, away)

    const error = await catchApiError(client.createVal({ name: "lost", code: "2" }))
    expect([error.status, error.code]).toEqual([503, "database_unavailable"])
    expect(error.message).toMatch(gone)
    // The key is read anew for each secret.
    expect((await catchApiError(client.putSecret({ name: "A", value: "lost" }))).code).toBe(
      "database_unavailable",
    )
    expect(
      (await catchApiError(client.executeSql({ statement: "insert into t values (1)" }))).status,
    ).toBe(503)
    const ready = await fetch(`${baseUrl}/readyz`)
    expect([ready.status, ((await ready.json()) as { message: string }).message]).toEqual([
      503,
      expect.stringMatching(gone),
    ])

    // Another file with the same name is not the one that was opened.
    mkdirSync(stage.dataDir)
    writeFileSync(join(stage.dataDir, "hamlet.db"), "")
    expect((await catchApiError(client.createVal({ name: "lost", code: "2" }))).message).toMatch(
      gone,
    )
    rmSync(stage.dataDir, { recursive: true })
    renameSync(away, stage.dataDir)
    expect((await client.createVal({ name: "back", code: "3" })).name).toBe("back")

    // What it cannot write at its end is told in sentences, without a stack.
    renameSync(stage.dataDir, away)
    hamlet.signal("SIGTERM")
    const { exitCode, stderr } = await hamlet.ended()
    expect(exitCode).toBe(0)
    expect(stderr).toContain('"event":"background","error":"Cannot use the database: ')
    expect(stderr).not.toContain("\\n    at ")
  })

  test.each([
    ["missing", (stage: Stage) => rmSync(join(stage.dataDir, "hamlet.db"))],
    ["empty", (stage: Stage) => writeFileSync(join(stage.dataDir, "hamlet.db"), "")],
  ])(
    "does not begin anew where the database is %s and the rest of a server is there",
    async (state, lose) => {
      await using stage = await openStage()
      const { hamlet } = await stage.serve({ HAMLET_PROCESSES_READY: "0" })
      hamlet.signal("SIGTERM")
      await hamlet.ended()
      lose(stage)
      const before = readdirSync(stage.dataDir)

      const { exitCode, stdout, stderr } = await stage.start().ended()
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" })
      expect(stderr).toMatch(
        /^Cannot start: ".+hamlet\.db" is .+, but .*secret\.key.+ is there.+"hamlet restore".+\n$/,
      )
      expect(stderr).toContain(`hamlet.db" is ${state}`)
      expect(readdirSync(stage.dataDir)).toEqual(before)
      const doctor = await stage.start(["doctor", "--json"]).ended()
      expect(doctor.stdout).toMatch(/"check":"database","status":"failure","found":"[^\n]+is there/)

      // Only with HAMLET_SECRET_KEY there is no key file, but databases of users are a sign as
      // well.
      rmSync(join(stage.dataDir, "secret.key"))
      rmSync(join(stage.dataDir, "hamlet.db"), { force: true })
      mkdirSync(join(stage.dataDir, "sqlite", "a"), { recursive: true })
      const key = { HAMLET_SECRET_KEY: Buffer.alloc(32, 7).toString("base64") }
      expect((await stage.start(["serve"], key).ended()).stderr).toMatch(
        /^Cannot start: .+sqlite.+ is there/,
      )
      expect(existsSync(join(stage.dataDir, "hamlet.db"))).toBe(false)
    },
  )
})
