import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { isDeepStrictEqual } from "node:util"
import { ConfigError, hasLocalLinks, loadConfig, options, toFlag } from "./config.ts"
import { readMachineMemory } from "./machine-memory.ts"

describe("loadConfig", () => {
  test("without settings has the defaults of the tables", () => {
    expect(loadConfig({ USER: "ada" }, [])).toMatchObject({
      host: "127.0.0.1",
      port: 8080,
      dataDir: resolve("./data"),
      databaseUrl: undefined,
      baseUrl: "http://localhost:8080",
      formerBaseUrls: [],
      valsDomain: "localhost:8080",
      isPublic: false,
      user: "ada",
      ratePerToken: undefined,
      allowsAnonymousRuns: false,
      logLevel: "info",
      hasAddressesInLog: true,
      isolation: "auto",
      drainMs: 0,
      runs: { runMsMax: 60_000, valMemoryBytesMax: 256 * 1024 ** 2, processesReady: 4 },
      emails: { noticeAddress: "no-reply@localhost", bytesPerDay: 100 * 1024 ** 2 },
      egress: {
        ports: [
          { first: 80, last: 80 },
          { first: 443, last: 443 },
          { first: 1024, last: 65_535 },
        ],
        filesMax: undefined,
      },
      dependencies: { npmRegistry: undefined, jsrUrl: "https://jsr.io/", fetchesTown: true },
      openAi: { service: undefined },
      mail: { smtp: { host: "127.0.0.1", port: undefined }, nameServers: undefined },
      oidc: undefined,
    })
    // A val that a schedule runs every minute keeps its process.
    expect(loadConfig({}, []).runs.idleMsMax).toBeGreaterThan(60_000)
    const documented = Object.fromEntries(options.map((option) => [option.env, option.default]))
    expect(documented).toMatchObject({
      HAMLET_PORT: "8080",
      HAMLET_RATE_PER_TOKEN: "10000 if public, else none",
      HAMLET_PROCESSES_MEMORY_MB: "half the memory",
      HAMLET_ANONYMOUS_RUNS: "no",
      HAMLET_LOG_LEVEL: "info, on a terminal warn",
    })
  })

  test.each([
    [{}, false],
    [{ HAMLET_HOST: "0.0.0.0" }, true],
    [{ HAMLET_HOST: "0.0.0.0", HAMLET_BASE_URL: "http://192.168.1.20:8080" }, true],
    [
      {
        HAMLET_HOST: "0.0.0.0",
        HAMLET_BASE_URL: "http://192.168.1.20:8080",
        HAMLET_VALS_DOMAIN: "vals.test",
      },
      false,
    ],
    [{ HAMLET_BASE_URL: "https://hamlet.test", HAMLET_VALS_DOMAIN: "vals.test" }, false],
  ])("hasLocalLinks of %j is %p", (env, expected) => {
    expect(hasLocalLinks(loadConfig(env, []))).toBe(expected)
  })

  test("keeps at most a twentieth of the memory in processes that are ready, unless it is told to", () => {
    const { processesReadyMax } = loadConfig({}, []).runs
    const byMemory = Math.floor(readMachineMemory() / 20 / (16 * 1024 ** 2))
    expect(processesReadyMax).toBeLessThanOrEqual(Math.max(4, byMemory))
    expect(processesReadyMax).toBeGreaterThanOrEqual(4)
    expect(loadConfig({ HAMLET_PROCESSES_READY_MAX: "3" }, []).runs.processesReadyMax).toBe(3)
  })

  test("logs no requests to a terminal, unless it is told to", () => {
    const onTerminal = { isOnTerminal: true }
    expect(loadConfig({}, [], onTerminal).logLevel).toBe("warn")
    expect(loadConfig({ HAMLET_LOG_LEVEL: "info" }, [], onTerminal).logLevel).toBe("info")
  })

  test("derives the addresses from the port", () => {
    expect(loadConfig({ HAMLET_PORT: "9000" }, [])).toMatchObject({
      baseUrl: "http://localhost:9000",
      valsDomain: "localhost:9000",
    })
  })

  test("uses the last of two equal flags", () => {
    expect(loadConfig({}, ["--port", "1", "--port", "2"]).port).toBe(2)
    expect(loadConfig({}, ["--port=3"]).port).toBe(3)
  })

  describe("sets rate limits", () => {
    const rates = (host: string, more: Record<string, string> = {}) => {
      const { ratePerToken, ratePerAddress } = loadConfig({ HAMLET_HOST: host, ...more }, [])
      return [ratePerToken, ratePerAddress]
    }

    test.each(["127.0.0.1", "127.1.2.3", "::1", "localhost"])(
      "not on %s, which only this machine reaches",
      (host) => {
        expect(rates(host)).toEqual([undefined, undefined])
      },
    )

    test.each([
      "0.0.0.0",
      "::",
      "192.168.0.1",
      "localhost.example",
      "127.0.0.1.example",
      "1127.0.0.1",
    ])("on %s", (host) => {
      expect(rates(host)).toEqual([10_000, 1_000])
    })

    test.each([
      [{ HAMLET_BASE_URL: "https://hamlet.example" }],
      [{ HAMLET_BASE_URL: "http://192.168.0.7:8080" }],
      [{ HAMLET_VALS_DOMAIN: "vals.example" }],
      [{ HAMLET_PUBLIC: "yes" }],
    ])("on loopback behind a proxy: %j", (env) => {
      expect(rates("127.0.0.1", env)).toEqual([10_000, 1_000])
      const { egress, allowances } = loadConfig(env, [])
      expect([
        egress.requestsPerMinute,
        allowances.runsPerMinute,
        allowances.storageRequestsPerMinute,
      ]).toEqual([6_000, 60_000, 60_000])
    })

    test("not if all addresses are of this machine, and not if the operator sets the server to private", () => {
      expect(
        rates("::1", {
          HAMLET_BASE_URL: "http://hamlet.localhost:8080",
          HAMLET_VALS_DOMAIN: "vals.localhost:8080",
        }),
      ).toEqual([undefined, undefined])
      expect(rates("0.0.0.0", { HAMLET_PUBLIC: "no" })).toEqual([undefined, undefined])
    })

    test("as the operator sets them, for any listening address", () => {
      expect(
        rates("0.0.0.0", { HAMLET_RATE_PER_TOKEN: "none", HAMLET_RATE_PER_ADDRESS: "5" }),
      ).toEqual([undefined, 5])
      expect(
        rates("localhost", { HAMLET_RATE_PER_TOKEN: "7", HAMLET_RATE_PER_ADDRESS: "none" }),
      ).toEqual([7, undefined])
    })
  })

  describe("names the first user", () => {
    test.each<[Record<string, string>, string]>([
      [{ USER: "ada" }, "ada"],
      [{ LOGNAME: "ada" }, "ada"],
      [{ USER: "ada", LOGNAME: "bob" }, "ada"],
      [{ USER: "ada.lovelace-1" }, "ada_lovelace_1"],
      [{ USER: "DOMAIN\\ada" }, "DOMAIN_ada"],
      [{ USER: "x".repeat(40) }, "x".repeat(30)],
      [{ USER: "1ada" }, "me"],
      [{ USER: "élise" }, "me"],
      [{ USER: "" }, "me"],
      [{}, "me"],
      [{ USER: "ada", HAMLET_USER: "Grace_1" }, "Grace_1"],
    ])("in the environment %j", (env, user) => {
      expect(loadConfig(env, []).user).toBe(user)
    })
  })

  const accepted: readonly [string, string, Partial<ReturnType<typeof loadConfig>>][] = [
    ["HAMLET_PORT", "0", { port: 0 }],
    ["HAMLET_PORT", "65535", { port: 65_535 }],
    [
      "HAMLET_DATABASE_URL",
      "postgresql://ada:pass@host:5432/db?sslmode=require",
      { databaseUrl: "postgresql://ada:pass@host:5432/db?sslmode=require" },
    ],
    ["HAMLET_BASE_URL", "https://hamlet.example/", { baseUrl: "https://hamlet.example" }],
    ["HAMLET_FORMER_BASE_URLS", "", { formerBaseUrls: [] }],
    [
      "HAMLET_FORMER_BASE_URLS",
      "http://localhost:8080/, https://example.com/hamlet",
      { formerBaseUrls: ["http://localhost:8080", "https://example.com/hamlet"] },
    ],
    ["HAMLET_BASE_URL", "http://[::1]:8080", { baseUrl: "http://[::1]:8080" }],
    ["HAMLET_BASE_URL", "https://example.com/hamlet//", { baseUrl: "https://example.com/hamlet" }],
    ["HAMLET_VALS_DOMAIN", "Vals.Example:8443", { valsDomain: "vals.example:8443" }],
    ["HAMLET_ADDRESS_HEADER", "X-Real-IP", { addressHeader: "x-real-ip" }],
    ["HAMLET_TOKEN", "~".repeat(200), { token: "~".repeat(200) }],
    ["HAMLET_BODY_BYTES_MAX", "1024", { bodyBytesMax: 1024 }],
    ["HAMLET_LOG_LEVEL", "none", { logLevel: "none" }],
    ["HAMLET_RATE_PER_TOKEN", "1", { ratePerToken: 1 }],
  ]
  test.each(accepted)("accepts %s %j", (env, value, expected) => {
    expect(loadConfig({ [env]: value }, [])).toMatchObject(expected)
  })

  const [one, two] = [1, 2].map((byte) => Buffer.alloc(32, byte)) as [Buffer, Buffer]
  test.each([
    [one.toString("base64"), [one]],
    [`${one.toString("base64")},${two.toString("base64")}`, [one, two]],
    [` ${one.toString("base64")} , ${two.toString("base64")} `, [one, two]],
    [one.toString("base64url"), [one]],
  ])("accepts HAMLET_SECRET_KEY %j, and keeps the order", (text, keys) => {
    expect(loadConfig({ HAMLET_SECRET_KEY: text }, []).secretKeys).toEqual(keys)
  })

  const refused: readonly [string, string][] = [
    ["HAMLET_PORT", "-1"],
    ["HAMLET_PORT", "80.5"],
    ["HAMLET_PORT", "0x50"],
    ["HAMLET_PORT", " 80"],
    ["HAMLET_PORT", "1e3"],
    ["HAMLET_DATABASE_CONNECTIONS_MAX", "1001"],
    ["HAMLET_DATABASE_URL", "host/db"],
    ["HAMLET_DATABASE_URL", "postgres://ho st/db"],
    ["HAMLET_DATABASE_URL", "/var/lib/hamlet.db"],
    ["HAMLET_BASE_URL", "ftp://hamlet.example"],
    ["HAMLET_FORMER_BASE_URLS", "http://localhost:8080 http://localhost:9000"],
    ["HAMLET_FORMER_BASE_URLS", "https://hamlet.example,moon"],
    [
      "HAMLET_FORMER_BASE_URLS",
      Array.from({ length: 21 }, (_, index) => `http://localhost:${index + 1}`).join(),
    ],
    ["HAMLET_BASE_URL", "https://"],
    ["HAMLET_BASE_URL", "https://hamlet.example/?a=b"],
    ["HAMLET_BASE_URL", "https://hamlet.example/#top"],
    ["HAMLET_BASE_URL", "https://hamlet.example/a b"],
    ["HAMLET_BASE_URL", "https://ada:secret@hamlet.example"],
    ["HAMLET_BASE_URL", " https://hamlet.example"],
    ["HAMLET_VALS_DOMAIN", "https://vals.example"],
    ["HAMLET_VALS_DOMAIN", "vals.example/x"],
    ["HAMLET_USER", "1ada"],
    ["HAMLET_USER", "_ada"],
    ["HAMLET_USER", "a".repeat(31)],
    ["HAMLET_TOKEN", "x".repeat(31)],
    ["HAMLET_TOKEN", "x".repeat(201)],
    ["HAMLET_TOKEN", `${"x".repeat(32)} `],
    ["HAMLET_TOKEN", "é".repeat(32)],
    ["HAMLET_SECRET_KEY", ","],
    ["HAMLET_SECRET_KEY", `${one.toString("base64")},`],
    ["HAMLET_SECRET_KEY", Buffer.alloc(31).toString("base64")],
    ["HAMLET_SECRET_KEY", Buffer.alloc(33).toString("base64")],
    ["HAMLET_SECRET_KEY", one.toString("hex")],
    ["HAMLET_RATE_PER_TOKEN", "NONE"],
    ["HAMLET_RATE_PER_ADDRESS", "1000000001"],
    ["HAMLET_ADDRESS_HEADER", "x forwarded for"],
    ["HAMLET_ADDRESS_HEADER", "x-forwarded-for:"],
    ["HAMLET_ADDRESS_HEADER", "é"],
    ["HAMLET_BODY_BYTES_MAX", "1023"],
    ["HAMLET_LOG_LEVEL", "INFO"],
    ["HAMLET_S3_URL", "s3://key:100%@bucket"],
    ["HAMLET_S3_URL", "s3://%ff:word@bucket"],
  ]
  test.each(refused)("refuses %s %j", (env, value) => {
    expect(() => loadConfig({ [env]: value }, [])).toThrow(ConfigError)
    expect(() => loadConfig({ [env]: value }, [])).toThrow(`Cannot use ${env} "`)
  })
})

/** Texts of all kinds: each setting accepts some of them, and refuses others. */
const [certificates, privateKey] = ["CERTIFICATE", "PRIVATE KEY"].map((kind) => {
  const path = join(tmpdir(), `hamlet-config-test-${crypto.randomUUID()}.pem`)
  const write = () => writeFileSync(path, `-----BEGIN ${kind}-----\n-----END ${kind}-----\n`)
  return { path, write }
}) as [TestFile, TestFile]
const texts = [
  "7",
  "100",
  "4096",
  "none",
  "no",
  "yes",
  "all",
  "deno",
  "warn",
  "local",
  "owner",
  "admins",
  "accept",
  "grace",
  "vals.example",
  "ada@mail.example",
  "127.0.0.1",
  "443,8000-8999",
  "openid email",
  "https://hamlet.example",
  "postgres://ada@host/hamlet",
  "smtp://mail.example",
  "s3://key:word@bucket",
  "x".repeat(32),
  Buffer.alloc(32).toString("base64"),
  "é x",
  "x".repeat(1001),
  "*.example",
  "mail..example",
  "-1",
  "/dev/null",
  "maybe,",
  "http/json",
  "always_on",
  "a=b",
  "0.5",
  "true",
  certificates.path,
  privateKey.path,
]
const secret =
  /^(HAMLET_(DATABASE_URL|TOKEN|SECRET_KEY|S3_URL|OPENAI_KEY|SMTP_URL|OIDC_CLIENT_.*|LIBSQL_.*)|OTEL_.*_HEADERS)$/
const takesAnyText = /^HAMLET_(HOST|DATA_DIR|EGRESS_ALLOW|EGRESS_DENY|SMTP_HOST)$/

interface TestFile {
  readonly path: string
  write(): void
}

describe("each setting", () => {
  beforeAll(() => {
    certificates.write()
    privateKey.write()
  })
  afterAll(() => {
    rmSync(certificates.path)
    rmSync(privateKey.path)
  })

  test.each(options.map(({ env }) => env))(
    "%s is read from the environment and from its flag, which wins",
    (env) => {
      const others = toCompanions(env)
      const byDefault = attempt(others)
      const value = texts.find((text) => {
        const read = attempt({ ...others, [env]: text })
        return typeof read === "object" && !isDeepStrictEqual(read, byDefault)
      })
      const read = attempt({ ...others, [env]: value })
      expect(value).toBeDefined()
      expect(
        attempt({ ...others, [env]: "nonsense" }, [`--${toFlag(env)}`, String(value)]),
      ).toEqual(read)
      // Empty is as good as not set.
      expect(attempt({ ...others, [env]: "" })).toEqual(byDefault)
    },
  )

  test.each(options.map(({ env }) => env).filter((env) => !takesAnyText.test(env)))(
    "%s refuses other texts with one sentence, which repeats no secret",
    (env) => {
      const shown = secret.test(env) ? '"…"' : '"[^"]+"'
      const refusals = texts
        .map((text) => attempt({ ...toCompanions(env), [env]: text }))
        .filter((refusal) => typeof refusal === "string")
      expect(refusals).not.toEqual([])
      for (const refusal of refusals)
        expect(refusal).toMatch(new RegExp(`^Cannot use ${env} ${shown}: [^\\n]+[^.\\n]$`))
    },
  )

  test.each([
    [["--port"], "Option '--port <value>' argument missing"],
    [["--port", "--host"], "Option '--port' argument is ambiguous"],
    [["here"], "Unexpected argument 'here'"],
  ])("is refused in one sentence with the arguments %j", (args, message) => {
    expect(attempt({}, args)).toBe(
      `Cannot understand the command line: ${message}; "npm start -- --help" lists the flags`,
    )
  })
})

/** The settings, or why they are refused. */
function attempt(env: Record<string, string | undefined>, args: readonly string[] = []) {
  try {
    return loadConfig(env, args)
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
}

/** The settings without which this one means nothing. */
function toCompanions(env: string): Record<string, string> {
  const [, kind = ""] = /^(?:HAMLET_)?(OIDC|LIBSQL|OTEL)_/.exec(env) ?? []
  const needed: Record<string, Record<string, string>> = {
    OIDC: { HAMLET_OIDC_ISSUER: "https://id.test", HAMLET_OIDC_CLIENT_ID: "vals" },
    OTEL: { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector.test:4318" },
    LIBSQL: { HAMLET_LIBSQL_URL: "http://sql.test", HAMLET_LIBSQL_ADMIN_URL: "http://admin.test" },
  }
  return Object.fromEntries(Object.entries(needed[kind] ?? {}).filter(([name]) => name !== env))
}

test("loadConfig needs both addresses of a libSQL server", () => {
  for (const env of ["HAMLET_LIBSQL_URL", "HAMLET_LIBSQL_ADMIN_URL"])
    expect(attempt({ [env]: "http://sql.test:8090" })).toMatch(/must be set too$/)
  for (const env of ["HAMLET_LIBSQL_KEY", "HAMLET_LIBSQL_ADMIN_KEY"])
    expect(attempt({ [env]: "albatross" })).toBe(
      `Cannot use ${env} "…": HAMLET_LIBSQL_URL must be set too`,
    )
  for (const url of ["http://ada:word@sql.test", "http://sql.test/?x", "libsql://sql.test"])
    expect(attempt({ HAMLET_LIBSQL_URL: url })).toStartWith('Cannot use HAMLET_LIBSQL_URL "…": it')
})

test("options have a sentence as documentation, and each name once", () => {
  expect(new Set(options.map(({ env }) => env)).size).toBe(options.length)
  for (const { env, meaning } of options) {
    expect(env).toMatch(/^(HAMLET|OTEL)(_[A-Z0-9]+)+$/)
    expect(meaning).toMatch(/^[A-Z`].*\.$/)
  }
})

test("loadConfig opens to sockets the usual ports, those of the operator, or none", () => {
  const portsOf = (env: Record<string, string>) =>
    loadConfig(env, []).egress.socketPorts.map(({ first, last }) => [first, last])
  expect(portsOf({ HAMLET_EGRESS_PORTS: "443,6000-6380" })).toEqual([
    [443, 443],
    [6379, 6380],
  ])
  expect(portsOf({ HAMLET_EGRESS_SOCKET_PORTS: "5432" })).toEqual([[5432, 5432]])
  expect(portsOf({ HAMLET_EGRESS_SOCKET_PORTS: "none" })).toEqual([])
})

test("loadConfig reads how mail is sent, and never sends a password unencrypted by itself", () => {
  const relayOf = (url: string) => loadConfig({ HAMLET_SMTP_URL: url }, []).emails.relay
  expect(relayOf("smtp://ada%40b.test:p%2Fs@mail.test")).toEqual({
    host: "mail.test",
    port: 587,
    isSecure: false,
    startTls: "required",
    login: { user: "ada@b.test", password: "p/s" },
  })
  expect(relayOf("smtps://[::1]:2465")).toEqual({
    host: "::1",
    port: 2465,
    isSecure: true,
    startTls: "if-offered",
    login: undefined,
  })
  expect(relayOf("smtp://ada:x@mail.test?tls=never")?.startTls).toBe("never")
  for (const url of ["smtp://", "smtp:mail.test", "http://mail.test", "smtp://a?tls=no"])
    expect(() => relayOf(url)).toThrow("Cannot use HAMLET_SMTP_URL")
})
