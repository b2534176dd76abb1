import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { mkdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ConfigError, loadConfig, type options } from "../../src/config/config.ts"
import { raw, sql } from "../../src/storage/database/sql.ts"
import { openPostgres } from "../../src/storage/postgres/open.ts"
import { describeEachDatabase, notRun } from "../support/databases.ts"
import { OldPostgres } from "../support/postgres/old-postgres.ts"
import { PrivatePostgres } from "../support/postgres/private-postgres.ts"
import type { HamletProcess } from "../support/processes/hamlet-process.ts"
import { openServerFixture } from "../support/server-fixture.ts"

const binaries = process.env.HAMLET_TEST_POSTGRES_BIN
const startMsMax = 180_000
const otherKey = Buffer.alloc(32, 9).toString("base64")

/** The one sentence with which the program refuses to start. It is all that it prints. */
async function refusal(hamlet: HamletProcess): Promise<string> {
  const { exitCode, stdout, stderr } = await hamlet.ended()
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" })
  expect(stderr).toMatch(/^Cannot [^\n]+[^\n.]\n$/)
  return stderr.trimEnd()
}

const helpAdvice = '"npm start -- --help" lists the flags'

describe("hamlet serve refuses to start, with one sentence,", () => {
  test("when its port is in use, before it writes anything", async () => {
    await using fixture = await openServerFixture()
    using other = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() })
    const message = await refusal(fixture.start(["serve", "--port", String(other.port)]))
    expect(message).toBe(
      `Cannot listen on 127.0.0.1 port ${other.port}: another program listens there; choose another port, as in "npm start -- --port 9000"`,
    )
    expect(await Bun.file(join(fixture.dataDir, "hamlet.db")).exists()).toBe(false)
  })

  test("when the machine does not have the address", async () => {
    await using fixture = await openServerFixture()
    const message = await refusal(fixture.start(["serve", "--host", "192.0.2.1"]))
    expect(message).toBe(
      "Cannot listen on 192.0.2.1 port 0: this machine does not have that address",
    )
  })

  test("when the data folder cannot be created or written to", async () => {
    await using fixture = await openServerFixture()
    // Root may write to every folder, but nobody can make one below a file.
    await writeFile(fixture.dataDir, "a file")
    const message = await refusal(fixture.start())
    expect(message).toStartWith(`Cannot use the data folder "${fixture.dataDir}": `)
    expect(
      await refusal(fixture.start(["serve", "--data-dir", join(fixture.dataDir, "below")])),
    ).toStartWith("Cannot use the data folder ")
  })

  test("when the database file is not a database", async () => {
    await using fixture = await openServerFixture()
    await mkdir(fixture.dataDir)
    await writeFile(join(fixture.dataDir, "hamlet.db"), "not a database ".repeat(1000))
    expect(await refusal(fixture.start())).toBe("Cannot use the database: file is not a database")
  })

  test("when the key file holds no key", async () => {
    await using fixture = await openServerFixture()
    await mkdir(fixture.dataDir)
    const path = join(fixture.dataDir, "secret.key")
    await writeFile(path, "short\n")
    expect(await refusal(fixture.start())).toBe(
      `Cannot read the key file "${path}": each line must be 32 bytes in base64`,
    )
  })

  test("when the database does not respond", async () => {
    await using fixture = await openServerFixture()
    const message = await refusal(
      fixture.start(["serve", "--database-url", "postgres://ada:hush@127.0.0.1:1/hamlet"]),
    )
    expect(message).toStartWith("Cannot use the database: ")
    expect(message).not.toContain("hush")
  })

  test("when the database is too old", async () => {
    await using fixture = await openServerFixture()
    const server = new OldPostgres("13.14", "130014")
    const message = await refusal(fixture.start(["serve", "--database-url", server.url]))
    expect(message).toBe(
      "Cannot use the database: PostgreSQL 14 or newer is required, but the server is 13.14",
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
      const message = await refusal(fixture.start(["serve", "--database-url", url]))
      expect(message).toBe(
        'Cannot use the database: password authentication failed for user "locked"',
      )
    })

    test("refuses to start with a database that does not exist", async () => {
      await using fixture = await openServerFixture()
      const message = await refusal(
        fixture.start(["serve", "--database-url", server.url.replace("/postgres?", "/nowhere?")]),
      )
      expect(message).toBe('Cannot use the database: database "nowhere" does not exist')
    })
  })

describeEachDatabase("hamlet serve", (open) => {
  test("refuses to start on data of a newer version, and changes nothing", async () => {
    await using fixture = await openServerFixture(open)
    const { hamlet } = await fixture.serve()
    hamlet.signal("SIGTERM")
    await hamlet.ended()
    const db = await fixture.connect()
    await db.write(function* () {
      yield sql`insert into schema_migrations (version, name, applied_at) values (${999}, ${"from the future"}, ${0})`
    })

    const message = await refusal(fixture.start())

    expect(message).toMatch(
      /^Cannot use the database: a newer version of Hamlet has written it \(its schema is 999 "from the future", this version knows up to \d+\)$/,
    )
    expect(await db.read(sql`select count(*) as count from users`)).toHaveLength(1)
    await db.stop()
  })

  test("refuses to start with a key that does not open the secrets", async () => {
    await using fixture = await openServerFixture(open)
    const { hamlet } = await fixture.serve()
    hamlet.signal("SIGTERM")
    await hamlet.ended()

    const message = await refusal(fixture.start(["serve"], { HAMLET_SECRET_KEY: otherKey }))

    expect(message).toMatch(
      /^Cannot start: the secrets in this database are encrypted with key [0-9a-f]{16}, which is neither in /,
    )
    expect(message).not.toContain(otherKey)
    expect(
      await refusal(fixture.start(["rotate-secret-key"], { HAMLET_SECRET_KEY: otherKey })),
    ).toBe(message)
    // With the right one it starts again.
    await fixture.serve()
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
    expect(await refusal(fixture.start(args, env))).toBe(message)
  })
})

describe("loadConfig", () => {
  const certificates = join(tmpdir(), `hamlet-config-test-${crypto.randomUUID()}.pem`)
  // Made only when one of these tests is to run: what is made for none is never removed.
  const dkimKey = join(tmpdir(), `hamlet-config-test-${crypto.randomUUID()}.key`)
  beforeAll(() =>
    Promise.all([
      writeFile(certificates, "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"),
      writeFile(dkimKey, "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n"),
    ]),
  )
  afterAll(() => Promise.all([rm(certificates), rm(dkimKey)]))

  const samples: Record<(typeof options)[number]["env"], string> = {
    HAMLET_HOST: "0.0.0.0",
    HAMLET_PORT: "9000",
    HAMLET_DATA_DIR: "/srv/hamlet",
    HAMLET_DATABASE_URL: "postgres://ada@host/hamlet",
    HAMLET_DATABASE_CONNECTIONS_MAX: "20",
    HAMLET_BASE_URL: "https://hamlet.example",
    HAMLET_FORMER_BASE_URLS: "http://localhost:8080,https://old.example",
    HAMLET_VALS_DOMAIN: "vals.example",
    HAMLET_PUBLIC: "yes",
    HAMLET_USER: "grace",
    HAMLET_TOKEN: "x".repeat(32),
    HAMLET_SESSION_DAYS: "7",
    HAMLET_SECRET_KEY: `${otherKey},${otherKey}`,
    HAMLET_RATE_PER_TOKEN: "7",
    HAMLET_RATE_PER_ADDRESS: "none",
    HAMLET_ADDRESS_HEADER: "x-forwarded-for",
    HAMLET_ANONYMOUS_RUNS: "yes",
    HAMLET_BODY_BYTES_MAX: "4096",
    HAMLET_LOG_LEVEL: "warn",
    HAMLET_LOG_ADDRESSES: "no",
    HAMLET_ISOLATION: "bubblewrap",
    HAMLET_RUN_SECONDS_MAX: "5",
    HAMLET_STREAM_SECONDS_MAX: "6",
    HAMLET_VAL_MEMORY_MB: "128",
    HAMLET_VAL_SCRATCH_MB: "1",
    HAMLET_VAL_CPU_SECONDS_MAX: "2",
    HAMLET_VAL_BODY_BYTES_MAX: "1000",
    HAMLET_RUNS_PER_VAL_MAX: "1",
    HAMLET_RUNS_PER_ACCOUNT_MAX: "2",
    HAMLET_PROCESSES_READY: "0",
    HAMLET_PROCESSES_READY_MAX: "1",
    HAMLET_PROCESSES_MAX: "9",
    HAMLET_PROCESSES_PER_ACCOUNT_MAX: "3",
    HAMLET_PROCESSES_MEMORY_MB: "1024",
    HAMLET_IDLE_SECONDS: "1",
    HAMLET_PROCESS_SECONDS_MAX: "7",
    HAMLET_QUEUE_RUNS_MAX: "33",
    HAMLET_QUEUED_RUNS_PER_ACCOUNT_MAX: "34",
    HAMLET_RUNS_KEPT_DAYS: "1",
    HAMLET_RUNS_KEPT_PER_VAL: "10",
    HAMLET_RUNS_KEPT_MB: "10",
    HAMLET_RESPONSE_BYTES_KEPT: "0",
    HAMLET_SCHEDULES_PER_USER_MAX: "0",
    HAMLET_SCHEDULE_SECONDS_MIN: "60",
    HAMLET_EGRESS_ALLOW: "db.internal:5432, 10.1.0.0/16",
    HAMLET_EGRESS_DENY: "*",
    HAMLET_EGRESS_PORTS: "443,8000-8999",
    HAMLET_EGRESS_SOCKET_PORTS: "5432",
    HAMLET_EGRESS_BYTES_MAX: "1000",
    HAMLET_EGRESS_SECONDS_MAX: "1",
    HAMLET_EGRESS_CONNECTIONS_MAX: "2",
    HAMLET_EGRESS_SOCKETS_MAX: "3",
    HAMLET_EGRESS_REQUESTS_PER_MINUTE: "60",
    HAMLET_EGRESS_CA: certificates,
    HAMLET_NPM_REGISTRY: "https://packages.example",
    HAMLET_JSR_URL: "https://jsr.example/",
    HAMLET_ESM_TOWN: "local",
    HAMLET_RESOLVE_SECONDS_MAX: "10",
    HAMLET_BLOBS_MB_MAX: "1",
    HAMLET_BLOB_BYTES_MAX: "1000",
    HAMLET_S3_URL: "s3://key:secret%2F1@bucket?endpoint=http://localhost:9000&region=here",
    HAMLET_SQLITE_MB_MAX: "1",
    HAMLET_SQLITE_SECONDS_MAX: "1",
    HAMLET_DATA_DIR_SHARED: "yes",
    HAMLET_RUNS_PER_MINUTE: "100",
    HAMLET_EGRESS_MB_PER_MINUTE: "10",
    HAMLET_STORAGE_REQUESTS_PER_MINUTE: "100",
    HAMLET_OPENAI_URL: "http://models.internal:11434/v1",
    HAMLET_OPENAI_KEY: "sk-0123456789",
    HAMLET_OPENAI_REQUESTS_PER_MINUTE: "20",
    HAMLET_OPENAI_REQUESTS_PER_DAY: "100",
    HAMLET_OPENAI_BODY_BYTES_MAX: "4096",
    HAMLET_SMTP_URL: "smtps://ada:p%40ss@mail.example",
    HAMLET_SMTP_CA: certificates,
    HAMLET_MAIL_DOMAIN: "mail.example",
    HAMLET_MAIL_FROM: "hamlet@mail.example",
    HAMLET_MAIL_FROM_DOMAINS: "mail.example, other.example",
    HAMLET_MAIL_DKIM_SELECTOR: "s1",
    HAMLET_MAIL_DKIM_KEY: dkimKey,
    HAMLET_MAILS_PER_DAY: "none",
    HAMLET_MAIL_MB_PER_DAY: "none",
    HAMLET_MAIL_TO: "owner",
    HAMLET_MAIL_RECIPIENTS_MAX: "5",
    HAMLET_MAIL_MB_MAX: "1",
    HAMLET_SMTP_PORT: "0",
    HAMLET_SMTP_HOST: "0.0.0.0",
    HAMLET_SMTP_NAME: "mail.example.com",
    HAMLET_SMTP_TLS_CERT: certificates,
    HAMLET_SMTP_TLS_KEY: certificates,
    HAMLET_MAIL_PER_ADDRESS: "30",
    HAMLET_MAIL_PER_ACCOUNT: "none",
    HAMLET_MAIL_GENERATED: "accept",
    HAMLET_MAIL_DNS: "127.0.0.1:5353,[::1]:53",
    HAMLET_OIDC_ISSUER: "https://id.example/realms/staff/",
    HAMLET_OIDC_CLIENT_ID: "hamlet",
    HAMLET_OIDC_CLIENT_SECRET: "secret",
    HAMLET_OIDC_NAME: "Example staff",
    HAMLET_OIDC_SCOPES: "openid email",
    HAMLET_OIDC_SIGN_UP: "none",
    HAMLET_OIDC_DOMAINS: "example.org, example.com",
    HAMLET_OIDC_LINK_EMAIL: "yes",
  }

  const secret = "too-short-to-be-a-token"
  const wrong: Record<string, string> = {
    HAMLET_PORT: "65536",
    HAMLET_DATABASE_URL: `mysql://ada:${secret}@host/db`,
    HAMLET_DATABASE_CONNECTIONS_MAX: "1",
    HAMLET_BASE_URL: "hamlet.example",
    HAMLET_FORMER_BASE_URLS: "moon",
    HAMLET_VALS_DOMAIN: "*.example",
    HAMLET_PUBLIC: "perhaps",
    HAMLET_ANONYMOUS_RUNS: "perhaps",
    HAMLET_USER: "ada lovelace",
    HAMLET_TOKEN: secret,
    HAMLET_SESSION_DAYS: "0",
    HAMLET_SECRET_KEY: secret,
    HAMLET_RATE_PER_TOKEN: "0",
    HAMLET_RATE_PER_ADDRESS: "many",
    HAMLET_BODY_BYTES_MAX: "1k",
    HAMLET_LOG_LEVEL: "loud",
    HAMLET_LOG_ADDRESSES: "some",
    HAMLET_ISOLATION: "hope",
    HAMLET_RUN_SECONDS_MAX: "0",
    HAMLET_STREAM_SECONDS_MAX: "1.5",
    HAMLET_VAL_MEMORY_MB: "1",
    HAMLET_VAL_SCRATCH_MB: "0",
    HAMLET_VAL_CPU_SECONDS_MAX: "none",
    HAMLET_VAL_BODY_BYTES_MAX: "all",
    HAMLET_RUNS_PER_VAL_MAX: "0",
    HAMLET_RUNS_PER_ACCOUNT_MAX: "0",
    HAMLET_PROCESSES_READY: "some",
    HAMLET_PROCESSES_READY_MAX: "10001",
    HAMLET_PROCESSES_MAX: "0",
    HAMLET_PROCESSES_PER_ACCOUNT_MAX: "0",
    HAMLET_PROCESSES_MEMORY_MB: "1",
    HAMLET_IDLE_SECONDS: "0",
    HAMLET_PROCESS_SECONDS_MAX: "0",
    HAMLET_QUEUE_RUNS_MAX: "0",
    HAMLET_QUEUED_RUNS_PER_ACCOUNT_MAX: "many",
    HAMLET_RUNS_KEPT_DAYS: "forever",
    HAMLET_RUNS_KEPT_PER_VAL: "0",
    HAMLET_RUNS_KEPT_MB: "0",
    HAMLET_RESPONSE_BYTES_KEPT: "lots",
    HAMLET_SCHEDULES_PER_USER_MAX: "many",
    HAMLET_SCHEDULE_SECONDS_MIN: "0",
    HAMLET_EGRESS_PORTS: "9-8",
    HAMLET_EGRESS_SOCKET_PORTS: "70000",
    HAMLET_EGRESS_BYTES_MAX: "0",
    HAMLET_EGRESS_SECONDS_MAX: "0",
    HAMLET_EGRESS_CONNECTIONS_MAX: "0",
    HAMLET_EGRESS_SOCKETS_MAX: "0",
    HAMLET_EGRESS_REQUESTS_PER_MINUTE: "0",
    HAMLET_EGRESS_CA: "/dev/null",
    HAMLET_NPM_REGISTRY: "packages.example",
    HAMLET_JSR_URL: "ftp://jsr.example",
    HAMLET_ESM_TOWN: "remote",
    HAMLET_RESOLVE_SECONDS_MAX: "0",
    HAMLET_BLOBS_MB_MAX: "0",
    HAMLET_BLOB_BYTES_MAX: "0",
    HAMLET_S3_URL: `s3://${secret}@bucket`,
    HAMLET_SQLITE_MB_MAX: "0",
    HAMLET_SQLITE_SECONDS_MAX: "0",
    HAMLET_DATA_DIR_SHARED: "maybe",
    HAMLET_RUNS_PER_MINUTE: "0",
    HAMLET_EGRESS_MB_PER_MINUTE: "0",
    HAMLET_STORAGE_REQUESTS_PER_MINUTE: "0",
    HAMLET_OPENAI_URL: "models.internal",
    HAMLET_OPENAI_KEY: `${secret} é`,
    HAMLET_OPENAI_REQUESTS_PER_MINUTE: "0",
    HAMLET_OPENAI_REQUESTS_PER_DAY: "many",
    HAMLET_OPENAI_BODY_BYTES_MAX: "1",
    HAMLET_SMTP_URL: `smpt://ada:${secret}@mail.example`,
    HAMLET_SMTP_CA: "/dev/null",
    HAMLET_MAIL_DOMAIN: "mail.example:25",
    HAMLET_MAIL_FROM: "hamlet",
    HAMLET_MAIL_FROM_DOMAINS: "*.example",
    HAMLET_MAIL_DKIM_SELECTOR: "a b",
    HAMLET_MAIL_DKIM_KEY: "/dev/null",
    HAMLET_MAILS_PER_DAY: "0",
    HAMLET_MAIL_MB_PER_DAY: "0",
    HAMLET_MAIL_TO: "nobody",
    HAMLET_MAIL_RECIPIENTS_MAX: "0",
    HAMLET_MAIL_MB_MAX: "0",
    HAMLET_SMTP_PORT: "25 and 587",
    HAMLET_SMTP_NAME: "mail..example",
    HAMLET_SMTP_TLS_CERT: "/nowhere/cert.pem",
    HAMLET_SMTP_TLS_KEY: "/dev/null",
    HAMLET_MAIL_PER_ADDRESS: "0",
    HAMLET_MAIL_PER_ACCOUNT: "0",
    HAMLET_MAIL_GENERATED: "maybe",
    HAMLET_MAIL_DNS: "dns.example.com",
    HAMLET_OIDC_ISSUER: "http://id.example",
    HAMLET_OIDC_CLIENT_ID: "é",
    HAMLET_OIDC_CLIENT_SECRET: `${secret}é`,
    HAMLET_OIDC_NAME: "x".repeat(61),
    HAMLET_OIDC_SCOPES: "email",
    HAMLET_OIDC_SIGN_UP: "maybe",
    HAMLET_OIDC_DOMAINS: "everywhere",
    HAMLET_OIDC_LINK_EMAIL: "maybe",
  }
  const unchecked = [
    "HAMLET_HOST",
    "HAMLET_DATA_DIR",
    "HAMLET_ADDRESS_HEADER",
    "HAMLET_EGRESS_ALLOW",
    "HAMLET_EGRESS_DENY",
    "HAMLET_SMTP_HOST",
  ]

  test.each(Object.keys(samples).filter((env) => !unchecked.includes(env)))(
    "explains why %s is invalid, and repeats no secret",
    (env) => {
      const value = wrong[env] ?? ""
      const sentence = new RegExp(
        `^Cannot use ${env} "[^"]+": (it|each key|each one) must [^.\\n]+$`,
      )
      for (const load of [
        () => loadConfig({ ...toCompanions(env), [env]: value }, []),
        () => loadConfig(toCompanions(env), [toFlag(env), value]),
      ]) {
        const error = caught(load)
        expect(error).toBeInstanceOf(ConfigError)
        expect(String(error instanceof Error && error.message)).toMatch(sentence)
        expect(String(error)).not.toContain(secret)
      }
    },
  )

  test.each([
    [["--port"], "Option '--port <value>' argument missing"],
    [["--port", "--host"], "Option '--port' argument is ambiguous"],
    [["here"], "Unexpected argument 'here'"],
  ])("explains in one sentence why the arguments %j are invalid", (args, message) => {
    expect(caught(() => loadConfig({}, args))).toEqual(
      new ConfigError(`Cannot understand the command line: ${message}; ${helpAdvice}`),
    )
  })

  test.each(Object.entries(samples))(
    "reads %s from the environment and from its flag",
    (env, value) => {
      const flag = toFlag(env)
      const others = toCompanions(env)
      const fromEnv = loadConfig({ ...others, [env]: value }, [])
      expect(loadConfig(others, [flag, value])).toEqual(fromEnv)
      expect(loadConfig({ ...others, [env]: "nonsense" }, [flag, value])).toEqual(fromEnv)
      // One is not set without the other.
      if (env === "HAMLET_OIDC_ISSUER" || env === "HAMLET_OIDC_CLIENT_ID") return
      // Empty is as good as not set.
      expect(loadConfig({ ...others, [env]: "" }, [])).toEqual(loadConfig(others, []))
      if (env !== "HAMLET_RATE_PER_ADDRESS") expect(fromEnv).not.toEqual(loadConfig(others, []))
    },
  )
})

/** The settings without which this one means nothing. */
function toCompanions(env: string): Record<string, string> {
  if (!env.startsWith("HAMLET_OIDC_")) return {}
  const { [env]: _, ...others } = {
    HAMLET_OIDC_ISSUER: "https://id.test",
    HAMLET_OIDC_CLIENT_ID: "vals",
  } as Record<string, string>
  return others
}

function toFlag(env: string): string {
  return `--${env.replace("HAMLET_", "").toLowerCase().replaceAll("_", "-")}`
}

function caught(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    return error
  }
  throw new Error("nothing was thrown")
}
