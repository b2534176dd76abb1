import { describe, expect, test } from "bun:test"
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { ApiError, createClient } from "@hamlet/contract/client"
import { chosenToken, openServerFixture, type ServerFixture } from "../support/server-fixture.ts"

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
  test("acknowledges nothing after its data folder was removed, and reports it", async () => {
    await using fixture = await openServerFixture()
    const { hamlet, baseUrl } = await fixture.serve()
    const client = createClient({ baseUrl, token: chosenToken, retriesMax: 0 })
    await client.createVal({ name: "kept", code: "1" })
    await client.executeSql({ statement: "create table t (x)" })
    const away = `${fixture.dataDir}-away`
    renameSync(fixture.dataDir, away)

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
    mkdirSync(fixture.dataDir)
    writeFileSync(join(fixture.dataDir, "hamlet.db"), "")
    expect((await catchApiError(client.createVal({ name: "lost", code: "2" }))).message).toMatch(
      gone,
    )
    rmSync(fixture.dataDir, { recursive: true })
    renameSync(away, fixture.dataDir)
    expect((await client.createVal({ name: "back", code: "3" })).name).toBe("back")

    // What it cannot write at its end is told in sentences, without a stack.
    renameSync(fixture.dataDir, away)
    hamlet.signal("SIGTERM")
    const { exitCode, stderr } = await hamlet.ended()
    expect(exitCode).toBe(0)
    expect(stderr).toMatch(
      /"event":"background","task":"[a-z: ]+","error":"Cannot use the database: /,
    )
    expect(stderr).not.toContain("\\n    at ")
  })

  test.each([
    ["missing", (fixture: ServerFixture) => rmSync(join(fixture.dataDir, "hamlet.db"))],
    ["empty", (fixture: ServerFixture) => writeFileSync(join(fixture.dataDir, "hamlet.db"), "")],
  ])(
    "refuses to create a new database when it is %s beside other files of a server",
    async (state, lose) => {
      await using fixture = await openServerFixture()
      const { hamlet } = await fixture.serve()
      hamlet.signal("SIGTERM")
      await hamlet.ended()
      lose(fixture)
      const before = readdirSync(fixture.dataDir)

      const { exitCode, stdout, stderr } = await fixture.run(["serve"])
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" })
      expect(stderr).toMatch(
        /^Cannot start: ".+hamlet\.db" is .+, but the folder contains .*secret\.key.+"hamlet restore".+\n$/,
      )
      expect(stderr).toContain(`hamlet.db" is ${state}`)
      expect(readdirSync(fixture.dataDir)).toEqual(before)
      const doctor = await fixture.run(["doctor", "--json"])
      expect(doctor.stdout).toMatch(
        /"check":"database","status":"failure","found":"[^\n]+the folder contains/,
      )

      if (state === "empty") return
      // Only with HAMLET_SECRET_KEY there is no key file, but databases of users are a sign as
      // well.
      rmSync(join(fixture.dataDir, "secret.key"))
      rmSync(join(fixture.dataDir, "hamlet.db"), { force: true })
      mkdirSync(join(fixture.dataDir, "sqlite", "a"), { recursive: true })
      const key = { HAMLET_SECRET_KEY: Buffer.alloc(32, 7).toString("base64") }
      expect((await fixture.run(["serve"], key)).stderr).toMatch(
        /^Cannot start: .+the folder contains .*sqlite/,
      )
      expect(existsSync(join(fixture.dataDir, "hamlet.db"))).toBe(false)
    },
  )
})
