import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { mkdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { raw, sql } from "@hamlet/database"
import { openPostgres } from "@hamlet/database/postgres"
import { PrivatePostgres } from "@hamlet/database/testing"
import { notRun } from "@hamlet/kit/testing"
import { describeEachDatabase } from "../support/databases.ts"
import { OldPostgres } from "../support/postgres/old-postgres.ts"
import { type CommandEnd, openServerFixture } from "../support/server-fixture.ts"

const binaries = process.env.HAMLET_TEST_POSTGRES_BIN
const startMsMax = 180_000
const otherKey = Buffer.alloc(32, 9).toString("base64")

/** The one sentence with which the program refuses to start. It is all that it prints. */
async function refusal(ending: Promise<CommandEnd>): Promise<string> {
  const { exitCode, stdout, stderr } = await ending
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" })
  expect(stderr).toMatch(/^Cannot [^\n]+[^\n.]\n$/)
  return stderr.trimEnd()
}

const helpAdvice = '"npm start -- --help" lists the flags'

describe("hamlet serve refuses to start, with one sentence,", () => {
  test("when its port is in use, before it writes anything", async () => {
    await using fixture = await openServerFixture()
    using other = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() })
    const message = await refusal(fixture.start(["serve", "--port", String(other.port)]).ended())
    expect(message).toBe(
      `Cannot listen on 127.0.0.1 port ${other.port}: another program listens there; choose another port, as in "npm start -- --port 9000"`,
    )
    expect(await Bun.file(join(fixture.dataDir, "hamlet.db")).exists()).toBe(false)
  })

  test("when the machine does not have the address", async () => {
    await using fixture = await openServerFixture()
    const message = await refusal(fixture.run(["serve", "--host", "192.0.2.1"]))
    expect(message).toBe(
      "Cannot listen on 192.0.2.1 port 0: this machine does not have that address",
    )
  })

  test("when the data folder cannot be created or written to", async () => {
    await using fixture = await openServerFixture()
    // Root may write to every folder, but nobody can make one below a file.
    await writeFile(fixture.dataDir, "a file")
    const message = await refusal(fixture.run(["serve"]))
    expect(message).toStartWith(`Cannot use the data folder "${fixture.dataDir}": `)
    expect(
      await refusal(fixture.run(["serve", "--data-dir", join(fixture.dataDir, "below")])),
    ).toStartWith("Cannot use the data folder ")
  })

  test("when the database file is not a database", async () => {
    await using fixture = await openServerFixture()
    await mkdir(fixture.dataDir)
    await writeFile(join(fixture.dataDir, "hamlet.db"), "not a database ".repeat(1000))
    expect(await refusal(fixture.run(["serve"]))).toBe(
      "Cannot use the database: file is not a database",
    )
  })

  test("when the key file holds no key", async () => {
    await using fixture = await openServerFixture()
    await mkdir(fixture.dataDir)
    const path = join(fixture.dataDir, "secret.key")
    await writeFile(path, "short\n")
    expect(await refusal(fixture.run(["serve"]))).toBe(
      `Cannot read the key file "${path}": each line must be 32 bytes in base64`,
    )
  })

  test("when the database does not respond", async () => {
    await using fixture = await openServerFixture()
    const message = await refusal(
      fixture.run(["serve", "--database-url", "postgres://ada:hush@127.0.0.1:1/hamlet"]),
    )
    expect(message).toBe(
      'Cannot use the database: Failed to connect (database "hamlet" on 127.0.0.1 port 1)',
    )
  })

  test("when the database is too old", async () => {
    await using fixture = await openServerFixture()
    const server = new OldPostgres("13.14", "130014")
    const message = await refusal(fixture.run(["serve", "--database-url", server.url]))
    expect(message).toBe(
      `Cannot use the database: PostgreSQL 14 or newer is required, but the server is 13.14 (database "hamlet" on 127.0.0.1 port ${new URL(server.url).port})`,
    )
    server.stop()
  })
})

if (binaries === undefined)
  notRun("hamlet serve, with a wrong password,", "HAMLET_TEST_POSTGRES_BIN is not set")
else
  describe("hamlet serve, with a wrong password,", () => {
    let server: PrivatePostgres

    beforeAll(async () => {
      server = await PrivatePostgres.create(binaries)
      const db = await openPostgres(server.url, { connectionsMax: 2 })
      await db.write(function* () {
        yield raw("create role locked login password 'the right one'")
      })
      await db.stop()
      const rules = join(server.folder, "data", "pg_hba.conf")
      await writeFile(rules, `local all locked scram-sha-256\n${await readFile(rules, "utf8")}`)
      await server.stop("fast")
      await server.start()
    }, startMsMax)

    afterAll(() => server.remove(), startMsMax)

    test("refuses to start, and repeats no password", async () => {
      await using fixture = await openServerFixture()
      const url = server.url.replace("postgres@", "locked:hush@")
      const message = await refusal(fixture.run(["serve", "--database-url", url]))
      expect(message).toStartWith(
        'Cannot use the database: password authentication failed for user "locked" (database "postgres" on ',
      )
      expect(message).not.toContain("hush")
    })

    test("refuses to start with a database that does not exist", async () => {
      await using fixture = await openServerFixture()
      const message = await refusal(
        fixture.run(["serve", "--database-url", server.url.replace("/postgres?", "/nowhere?")]),
      )
      expect(message).toStartWith(
        'Cannot use the database: database "nowhere" does not exist (database "nowhere" on ',
      )
    })
  })

describeEachDatabase("hamlet serve", (open) => {
  test("refuses to start with a key that does not open the secrets, and on data of a newer or a much older version", async () => {
    await using fixture = await openServerFixture(open)
    const { hamlet } = await fixture.serve()
    hamlet.signal("SIGTERM")
    await hamlet.ended()

    const message = await refusal(fixture.run(["serve"], { HAMLET_SECRET_KEY: otherKey }))
    expect(message).toMatch(
      /^Cannot start: the secrets in this database are encrypted with key [0-9a-f]{16}, which is neither in /,
    )
    expect(message).not.toContain(otherKey)
    expect(await refusal(fixture.run(["rotate-secret-key"], { HAMLET_SECRET_KEY: otherKey }))).toBe(
      message,
    )

    // None of the refusals changes anything.
    const db = await fixture.connect()
    const refusalAt = async (version: number) => {
      await db.write(function* () {
        yield sql`delete from schema_migrations where version > (select min(version) from schema_migrations)`
        yield sql`update schema_migrations set version = ${version}, name = ${"another"}`
      })
      const message = await refusal(fixture.run(["serve"]))
      expect(await db.read(sql`select version from schema_migrations`)).toEqual([{ version }])
      expect(await db.read(sql`select id from users`)).toHaveLength(1)
      return message
    }

    expect(await refusalAt(999)).toMatch(
      /^Cannot use the database: a newer version of Hamlet has written it \(its schema is 999 "another", this version knows up to \d+\)$/,
    )
    expect(await refusalAt(39)).toBe(
      "Cannot use the database: its schema is 39, and this version of Hamlet needs 40 or newer; start Hamlet 0.2.0 on it once, then this version",
    )
    await db.stop()
  })
})

describe("hamlet refuses, with one sentence, what it does not understand:", () => {
  test.each<[readonly string[], Record<string, string>, string]>([
    [
      ["fly"],
      {},
      'Cannot do "fly": the commands are serve, restore, rotate-secret-key, admin-token and doctor',
    ],
    [
      ["serve", "--nope"],
      {},
      `Cannot understand the command line: Unknown option '--nope'; ${helpAdvice}`,
    ],
    [
      ["rotate-secret-key", "--nope"],
      {},
      `Cannot understand the command line: Unknown option '--nope'; ${helpAdvice}`,
    ],
    [
      ["serve"],
      { HAMLET_PORT: "http" },
      'Cannot use HAMLET_PORT "http": it must be a whole number from 0 to 65535',
    ],
  ])("arguments %j, environment %j", async (args, env, message) => {
    await using fixture = await openServerFixture()
    expect(await refusal(fixture.run(args, env))).toBe(message)
  })
})
