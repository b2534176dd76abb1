import { describe, expect, test } from "bun:test"
import type { HeaderList } from "@hamlet/http1"
import fc from "fast-check"
import type { Substitution } from "../../program/outgoing-request.ts"
import { substituteSecrets } from "./substitute-secrets.ts"

const host = "api.example.com"

function secret(name: string, value: string, ...hosts: readonly string[]): Substitution {
  return { placeholder: `hamlet-secret:${name}`, value, hosts: hosts.length > 0 ? hosts : [host] }
}

const key = secret("KEY", "sk-1")
const secrets = [
  key,
  secret("KEY2", "sk-2"),
  secret("OTHER", "sk-other", "other.example.com"),
  secret("PORT", "sk-port", "api.example.com:8443", "127.0.0.1:9000"),
  secret("TLS", "sk-tls", "api.example.com:443"),
  secret("LINES", "one\r\nx-evil: two"),
  secret("NUL", "one\0two"),
  secret("ACCENT", "pässwörd"),
  secret("WIDE", "čĊ"),
  secret("EMPTY", ""),
  secret("NESTED", "hamlet-secret:KEY"),
  secret("DOLLAR", "$&$1$`"),
]

const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`

/** Header, value, and what the host gets. */
const table: readonly (readonly [header: string, value: string, sent: string])[] = [
  ["authorization", "hamlet-secret:KEY", "sk-1"],
  ["authorization", "Bearer hamlet-secret:KEY", "Bearer sk-1"],
  ["Authorization", "Bearer hamlet-secret:KEY", "Bearer sk-1"],
  ["x-api-key", "hamlet-secret:KEY", "sk-1"],
  ["cookie", "session=hamlet-secret:KEY; a=b", "session=sk-1; a=b"],
  ["x-both", "hamlet-secret:KEY,hamlet-secret:KEY2", "sk-1,sk-2"],
  ["x-twice", "hamlet-secret:KEY hamlet-secret:KEY", "sk-1 sk-1"],
  ["x-glued", "hamlet-secret:KEYhamlet-secret:KEY2", "sk-1sk-2"],
  ["x-prefix", "hamlet-secret:KEY2", "sk-2"],
  ["x-longer", "hamlet-secret:KEY/path", "sk-1/path"],
  ["x-empty", "<hamlet-secret:EMPTY>", "<>"],
  ["x-nested", "hamlet-secret:NESTED", "hamlet-secret:KEY"],
  ["x-dollar", "hamlet-secret:DOLLAR", "$&$1$`"],
  ["x-tls", "hamlet-secret:TLS", "sk-tls"],
  ["x-none", "nothing", "nothing"],
  ["x-none", "", ""],
  ["x-case", "HAMLET-SECRET:KEY", "HAMLET-SECRET:KEY"],
  ["x-unknown", "hamlet-secret:UNKNOWN", "hamlet-secret:UNKNOWN"],

  // User and password.
  ["authorization", basic("ada:hamlet-secret:KEY"), basic("ada:sk-1")],
  ["authorization", basic("hamlet-secret:KEY:"), basic("sk-1:")],
  ["authorization", basic("hamlet-secret:KEY:hamlet-secret:KEY2"), basic("sk-1:sk-2")],
  ["authorization", basic("ädä:hamlet-secret:KEY"), basic("ädä:sk-1")],
  ["authorization", basic("ada:hamlet-secret:ACCENT"), basic("ada:pässwörd")],
  [
    "authorization",
    basic("ada:hamlet-secret:KEY").replace("Basic ", "bAsIc  "),
    basic("ada:sk-1").replace("Basic ", "bAsIc  "),
  ],
  ["authorization", basic("ada:hamlet-secret:KEY").replaceAll("=", ""), basic("ada:sk-1")],
  ["authorization", basic("ada:password"), basic("ada:password")],
  ["authorization", "Basic YWRhOnBhc3N3b3Jk=", "Basic YWRhOnBhc3N3b3Jk="],
  ["authorization", "Basic not base64!", "Basic not base64!"],
  ["authorization", basic("ada:hamlet-secret:OTHER"), basic("ada:hamlet-secret:OTHER")],
  ["x-authorization", basic("ada:hamlet-secret:KEY"), basic("ada:hamlet-secret:KEY")],

  // What belongs elsewhere.
  ["authorization", "Bearer hamlet-secret:OTHER", "Bearer hamlet-secret:OTHER"],
  ["authorization", "Bearer hamlet-secret:PORT", "Bearer hamlet-secret:PORT"],
]

/** What is left although the host is right, and how the owner hears of it. */
const left: readonly (readonly [header: string, value: string, reason: string])[] = [
  ["x-lines", "hamlet-secret:LINES", "its value contains characters that a header cannot contain"],
  ["x-nul", "hamlet-secret:NUL", "its value contains characters that a header cannot contain"],
  [
    "x-accent",
    "hamlet-secret:ACCENT",
    "its value contains characters that a header cannot contain",
  ],
  ["x-wide", "hamlet-secret:WIDE", "its value contains characters that a header cannot contain"],
  [
    "authorization",
    basic("ada:hamlet-secret:LINES"),
    "its value contains characters that a header cannot contain",
  ],
  [
    "authorization",
    basic("ada:hamlet-secret:NUL"),
    "its value contains characters that a header cannot contain",
  ],
  ...[
    "host",
    "Host",
    "content-length",
    "transfer-encoding",
    "connection",
    "upgrade",
    "te",
    "trailer",
    "expect",
    "keep-alive",
  ].map((name) => [name, "hamlet-secret:KEY", "this header cannot contain secrets"] as const),
  ["sec-websocket-protocol", "hamlet-secret:KEY", "this header cannot contain secrets"],
  ["sec-websocket-key", "hamlet-secret:KEY", "this header cannot contain secrets"],
]

describe("substituteSecrets", () => {
  test.each(table)("%s: %s becomes %s", (name, value, sent) => {
    expect(substituteSecrets([[name, value]], host, true, secrets)).toEqual([[name, sent]])
  })

  test.each(left)("%s: %s is left: %s", (name, value, reason) => {
    const sentences: string[] = []
    expect(
      substituteSecrets([[name, value]], host, true, secrets, (sentence) =>
        sentences.push(sentence),
      ),
    ).toEqual([[name, value]])
    expect(sentences).toEqual([
      expect.stringMatching(
        new RegExp(
          `^Cannot replace "hamlet-secret:\\w+" in header "[a-z-]+" by its secret: ${reason}$`,
        ),
      ),
    ])
  })

  test.each([
    ["api.example.com", "sk-1"],
    ["API.example.com", "sk-1"],
    ["api.example.com.", "sk-1"],
    ["api.example.com:443", "sk-1"],
    ["api.example.com:8443", undefined],
    ["api.example.com:80", undefined],
    ["api.example.com:4430", undefined],
    ["other.example.com", undefined],
    ["example.com", undefined],
    ["v1.api.example.com", undefined],
    ["api.example.com.evil.org", undefined],
    ["evilapi.example.com", undefined],
    ["api.example.com@evil.org", undefined],
    ["", undefined],
  ])("sends a secret for api.example.com to %p: %s", (target, value) => {
    const header = ["authorization", "hamlet-secret:KEY"] as const
    expect(substituteSecrets([header], target, true, secrets)).toEqual([
      ["authorization", value ?? "hamlet-secret:KEY"],
    ])
  })

  test.each([
    ["api.example.com:8443", "sk-port"],
    ["api.example.com.:8443", "sk-port"],
    ["127.0.0.1:9000", "sk-port"],
    ["127.0.0.1", undefined],
    ["api.example.com", undefined],
  ])("sends a secret for hosts with ports to %p: %s", (target, value) => {
    const header = ["authorization", "hamlet-secret:PORT"] as const
    expect(substituteSecrets([header], target, true, secrets)).toEqual([
      ["authorization", value ?? "hamlet-secret:PORT"],
    ])
  })

  test("replaces nothing for an untrusted host, and warns once per header", () => {
    const headers: HeaderList = [
      ["authorization", "Bearer hamlet-secret:KEY"],
      ["x-key", "hamlet-secret:KEY hamlet-secret:KEY hamlet-secret:OTHER"],
    ]
    const sentences: string[] = []
    expect(
      substituteSecrets(headers, host, false, secrets, (sentence) => sentences.push(sentence)),
    ).toEqual(headers)
    expect(sentences).toEqual([
      'Cannot replace "hamlet-secret:KEY" in header "authorization" by its secret: the request is not encrypted',
      'Cannot replace "hamlet-secret:KEY" in header "x-key" by its secret: the request is not encrypted',
    ])
  })

  test("does not match KEY within the placeholder of another secret", () => {
    const longer = secret("KEY_OTHER", "sk-other", "other.example.com")
    const header = ["x-key", "hamlet-secret:KEY_OTHER"] as const
    for (const order of [
      [key, longer],
      [longer, key],
    ])
      expect(substituteSecrets([header], host, true, order)).toEqual([header])
  })

  test("keeps the names, the order and the number of headers", () => {
    const headers: HeaderList = [
      ["hamlet-secret:KEY", "a"],
      ["set-cookie", "hamlet-secret:KEY"],
      ["set-cookie", "b"],
    ]
    expect(substituteSecrets(headers, host, true, secrets)).toEqual([
      ["hamlet-secret:KEY", "a"],
      ["set-cookie", "sk-1"],
      ["set-cookie", "b"],
    ])
  })

  test("limits the growth of the headers", () => {
    const large = secret("LARGE", "x".repeat(32_768))
    const headers: HeaderList = [
      ["x-1", "hamlet-secret:LARGE".repeat(3)],
      ["x-2", "hamlet-secret:LARGE".repeat(3)],
    ]
    const sentences: string[] = []
    const sent = substituteSecrets(headers, host, true, [large], (sentence) =>
      sentences.push(sentence),
    )
    expect(sent.map(([, value]) => value.length)).toEqual([
      3 * 32_768,
      32_768 + 2 * "hamlet-secret:LARGE".length,
    ])
    expect(sentences).toEqual([expect.stringContaining("the headers would become too large")])
  })

  test("never writes a line break, and never sends a value to another host", () => {
    const value = fc.string({ unit: "binary", minLength: 8, maxLength: 40 })
    const texts = fc.constantFrom(
      "hamlet-secret:RANDOM",
      "Bearer hamlet-secret:RANDOM",
      basic("a:hamlet-secret:RANDOM"),
    )
    fc.assert(
      fc.property(value, texts, fc.constantFrom("authorization", "x-key"), (random, text, name) => {
        const random1 = [secret("RANDOM", random)]
        const sent = substituteSecrets([[name, text]], host, true, random1)[0]?.[1] ?? ""
        expect(sent).toMatch(/^[\t\x20-\x7e]*$/)
        expect(substituteSecrets([[name, text]], "evil.example.com", true, random1)).toEqual([
          [name, text],
        ])
      }),
      { numRuns: 500 },
    )
  })
})
