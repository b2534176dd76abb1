import { eventType, limits } from "@hamlet/contract"
import fc from "fast-check"
import type { Schema } from "./operations.ts"
import { poolSize } from "./pools.ts"

/**
 * Values that fit a schema of the document. What the name of a field tells is used, so that
 * requests meet what exists.
 */
export function validValue(name: string, schema: Schema): fc.Arbitrary<unknown> {
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return fc.oneof(...choices.map((inner) => validValue(name, inner)))
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if (schema.type === "object") return soundObject(schema)
  if (schema.type === "array") return soundArray(name, schema)
  if (schema.type === "integer") return soundInteger(name, schema)
  if (schema.type === "boolean") return fc.boolean()
  if (schema.type === "null") return fc.constant(null)
  return soundText(name, schema)
}

/** A mark that stands for something that exists when the request is sent. */
export function mark(kind: string, field = "id"): fc.Arbitrary<string> {
  return fc.nat(poolSize - 1).map((index) => `~${kind}.${index}.${field}~`)
}

/**
 * A mark that stands mostly for the one thing that the request is about, whose number a plan puts
 * in place of the star.
 */
function focusMark(kind: string, field = "id"): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant(`~${kind}.*.${field}~`) },
    { weight: 1, arbitrary: mark(kind, field) },
  )
}

function soundObject(schema: Schema): fc.Arbitrary<unknown> {
  const fields = Object.entries(schema.properties ?? {}).map(
    ([name, inner]) => [name, validValue(name, inner)] as const,
  )
  // A change of a val or of a profile must change something, which JSON Schema is not told.
  const required =
    schema.required ??
    Object.keys(schema.properties ?? {}).filter(
      (name) => name === "privacy" || name === "bio" || name === "blobBytes",
    )
  return fc.record(Object.fromEntries(fields), {
    requiredKeys: [...required],
    noNullPrototype: true,
  })
}

function soundArray(name: string, schema: Schema): fc.Arbitrary<unknown> {
  return fc.uniqueArray(validValue(name, schema.items ?? {}), {
    minLength: schema.minItems ?? 1,
    maxLength: Math.min(schema.maxItems ?? 3, 5),
  })
}

function soundInteger(name: string, schema: Schema): fc.Arbitrary<number> {
  const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = schema
  if (name === "version")
    return fc.oneof(
      { weight: 5, arbitrary: fc.integer({ min: 1, max: 5 }) },
      { weight: 1, arbitrary: fc.nat(999_999_999_999_999) },
    )
  const near = fc.integer({ min: minimum, max: Math.min(maximum, minimum + 30) })
  return fc.oneof(
    { weight: 4, arbitrary: near },
    { weight: 1, arbitrary: fc.integer({ min: minimum, max: maximum }) },
  )
}

const kinds: Readonly<Record<string, string>> = {
  val_id: "val",
  user_id: "user",
  userId: "user",
  run_id: "run",
  comment_id: "comment",
  token_id: "token",
  session_id: "session",
  identity_id: "identity",
  authorization_id: "authorization",
  invitation_id: "invitation",
  email_id: "email",
  webhook_id: "webhook",
  targetValId: "val",
  valId: "val",
  // A main branch and an entry file have the id of their val.
  branch_id: "val",
  other_branch_id: "val",
  branch_ids: "val",
  branchId: "val",
  file_id: "val",
  orgId: "org",
  org_id: "org",
}

function soundText(name: string, schema: Schema): fc.Arbitrary<string> {
  const kind = kinds[name]
  if (kind !== undefined)
    return fc.oneof({ weight: 8, arbitrary: focusMark(kind) }, { weight: 1, arbitrary: fc.uuid() })
  // Ids of other users' things, and of nothing, are ignored.
  if (name === "ids") return fc.uuid()
  if (name === "trace_ids") return fc.uuid().map((id) => id.replaceAll("-", ""))
  if (name === "delivery_id") return focusMark("webhook", "delivery")
  if (name === "expiresAt")
    return fc.constantFrom("2999-01-01", "2999-01-01T00:00:00", "2999-01-01T00:00:00.5+02:00")
  if (schema.format === "date-time") return soundTime
  if (schema.format === "email") return fc.constantFrom("ada@hamlet.test", "a.b+c@sub.hamlet.test")
  if (/^(?:name|key)$/.test(name) && schema.maxLength === limits.secretNameCharsMax)
    return soundVariable
  if (/^(?:key|prefix|after)$/.test(name) && schema.pattern === undefined) return soundKey
  // What is run: the entry file of the only branch of most vals.
  if (name === "branch") return fc.constantFrom("main", "Main", "draft")
  if (name === "file") return fc.constantFrom("main.tsx", "main.tsx", "main.tsx", "lib/a.ts", "lib")
  // The name of a file, without its directory.
  if (name === "name" && schema.maxLength === limits.filePathCharsMax)
    return fc.constantFrom("main.tsx", "lib", "c.txt")
  if (schema.maxLength === limits.filePathCharsMax)
    return fc.constantFrom("main.tsx", "lib", "lib/a.ts", "lib/b/c.txt", "README.md", "lib2")
  if (name === "module")
    return fc.oneof(fc.constantFrom("blob", "sqlite.ts", "blob/main.ts", "openai"), text(1, 50))
  if (name === "code") return soundCode
  if (name === "statement" || name === "statements" || name === "sql") return soundSql
  if (name === "every") return soundDuration
  if (name === "timeZone") return soundTimeZone
  if (name === "imageUrl")
    return fc.oneof(
      fc.constantFrom("", "https://example.com/a.png#b", "HTTP://[2001:db8::1]:80/"),
      fc
        .base64String({ minLength: 4, maxLength: 40 })
        .map((picture) => `data:image/png;base64,${picture}`),
    )
  if (name === "base64") return fc.base64String({ maxLength: 40 })
  // The query of the page on which a user allows a program, not the text of a search.
  if (name === "query" && schema.maxLength === limits.authorizationQueryCharsMax)
    return fc.constant("~program.0.query~")
  if (name === "query") return soundSearch
  if (name === "val_name")
    return fc.oneof(
      focusMark("val", "name"),
      focusMark("val", "name").map((text) => `${text}@1`),
      text(1, 50),
    )
  if (name === "username" && schema.pattern === undefined)
    return fc.oneof(
      focusMark("val", "username"),
      focusMark("val", "username").map((text) => `@${text}`),
      text(1, 50),
    )
  if (name === "args" && schema.type === "string")
    return fc.constantFrom("[]", "[1]", '[{"a":[null]},"é"]')
  if (name === "variable") return fc.constantFrom("VAL_1", "VAL_2")
  if (name === "hosts") return fc.constantFrom("api.hamlet.test", "localhost:8080", "a-b.c")
  if (schema.pattern !== undefined)
    return fc.oneof(
      fc
        .stringMatching(new RegExp(schema.pattern), { maxLength: schema.maxLength ?? 30 })
        .filter(isNotDots),
      takenName(name),
    )
  return text(schema.minLength ?? 0, schema.maxLength ?? 100)
}

const soundDuration = fc.constantFrom("30d", "366d", "1h30m", "2 h", "900S")
const soundTimeZone = fc.constantFrom("UTC", "Europe/Berlin", "america/new_york")

/** A schedule: one of two expressions, or neither for one that exists. */
export const validSchedule = fc
  .record(
    {
      timing: fc.oneof(
        soundDuration.map((every) => ({ every })),
        fc
          .constantFrom("0 9 1 1 *", "@yearly", "0 0 29 FEB *", "30 0 0 L DEC SUN#L")
          .map((cron) => ({ cron })),
      ),
      timeZone: soundTimeZone,
      isPaused: fc.boolean(),
      overlap: fc.constantFrom("skip", "queue", "allow"),
      catchUp: fc.constantFrom("none", "one"),
    },
    { requiredKeys: ["timing"], noNullPrototype: true },
  )
  .map(({ timing, ...settings }) => ({ ...timing, ...settings }))

/** Few enough that they meet again, in a request to create and in one to change. */
function takenName(name: string): fc.Arbitrary<string> {
  const prefix = name === "name" ? "val" : "user"
  return fc
    .nat(20)
    .map((number) => (name === "name" ? `${prefix.toUpperCase()}_${number}` : `${prefix}${number}`))
}

// NUL and halves of surrogate pairs are not sound; the other generator has them.
const unit = fc.constantFrom(
  ...("abcXYZ019 _-%'\"\\`{}()[]<>=>;\n\téßİıΣς中😀👩‍👩‍👧\u200b\ufeff\uffff".match(/./gsu) ?? []),
)

function text(min: number, max: number): fc.Arbitrary<string> {
  const short = fc.string({ unit, minLength: min, maxLength: Math.min(max, 40) })
  // The longest allowed text. It is ASCII, so that every way to count characters agrees.
  const long = fc.constantFrom("x", "\n", "%").map((letter) => letter.repeat(max))
  return fc.oneof(
    { weight: 60, arbitrary: short },
    { weight: max > 1000 ? 1 : 10, arbitrary: long },
  )
}

/** These two no URL can name: they are refused where an address has the text. */
function isNotDots(text: string): boolean {
  return text !== "." && text !== ".."
}

const soundVariable = text(1, limits.secretNameCharsMax).filter(
  (name) => !name.includes("=") && isNotDots(name),
)

const headerName = fc.oneof(
  fc.constantFrom(
    "accept",
    "Host",
    "authorization",
    "Cookie",
    "connection",
    "upgrade",
    "content-length",
    "x-hamlet-depth",
  ),
  fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, { maxLength: 20 }),
)
const headerValue = fc.oneof(
  fc.constantFrom("application/json", "websocket", "16"),
  fc.stringMatching(/^[\t\x20-\x7e]*$/, { maxLength: 30 }),
)
const requestPath = fc.oneof(
  fc.constantFrom("/", "/a/b?c=d", "//x", "/%00"),
  fc.stringMatching(/^\/[\x21\x22\x24-\x7e]*$/, { maxLength: 40 }),
)
const headers = fc.oneof(
  fc.array(fc.tuple(headerName, headerValue), { maxLength: 5 }),
  fc.dictionary(headerName, headerValue, { maxKeys: 5, noNullPrototype: true }),
)
const request = { path: requestPath, headers }

/** A request to be sent to a val: what fits together of its fields, JSON Schema is not told. */
export const validRequest: fc.Arbitrary<object> = fc.oneof(
  fc.record(
    { ...request, method: fc.constantFrom("GET", "HEAD", "get") },
    { requiredKeys: ["path", "method"] },
  ),
  fc.record(
    { ...request, method: fc.constantFrom("POST", "QUERY", "delete"), body: text(0, 200) },
    { requiredKeys: ["path", "method"] },
  ),
  fc.record({
    ...request,
    method: fc.constant("PATCH"),
    bodyBase64: fc.base64String({ maxLength: 40 }),
  }),
)

const emailAddress = fc.oneof(
  fc.constantFrom("ada@hamlet.test", "a.b+c@sub.hamlet.test"),
  fc.record({ email: fc.constant("bob@hamlet.test"), name: fc.constantFrom("Bob", 'Bø, "b"') }),
)
const emailAddresses = fc.oneof(emailAddress, fc.array(emailAddress, { maxLength: 5 }))

/** An email: which texts are one line, JSON Schema is not told. */
export const validEmail: fc.Arbitrary<object> = fc.record(
  {
    to: emailAddresses,
    cc: emailAddresses,
    bcc: emailAddresses,
    from: emailAddress,
    replyTo: emailAddresses,
    replyToList: emailAddresses,
    subject: fc.constantFrom("", "Hello", "é".repeat(998)),
    text: text(0, 200),
    html: text(0, 200),
    headers: fc.constantFrom({}, { "X-A": "1" }),
    attachments: fc.array(
      fc.record({ content: fc.base64String(), filename: fc.constantFrom("a.txt", "é.pdf") }),
      { maxLength: 3 },
    ),
  },
  { requiredKeys: [] },
)

const webhookSettings = {
  events: fc.uniqueArray(fc.constantFrom(...eventType.options), { minLength: 1 }),
  valId: fc.option(focusMark("val")),
  description: fc.option(text(0, 200)),
  isPaused: fc.boolean(),
}
const webhookTarget = fc.oneof(
  fc.record({
    url: fc.constantFrom(
      "https://receiver.invalid/",
      "http://[2001:db8::1]:8080/?a=b",
      "HTTP://x.invalid/%00",
      "http://127.0.0.1:9/",
      "https://xn--nxa.invalid/",
      `https://x.invalid/${"y".repeat(1_900)}`,
    ),
  }),
  fc.record({ targetValId: focusMark("val") }),
)

/** A webhook has one of two targets, which JSON Schema is not told. */
export const validWebhook: fc.Arbitrary<object> = fc
  .tuple(webhookTarget, fc.record(webhookSettings, { requiredKeys: ["events"] }))
  .map(([target, settings]) => ({ ...target, ...settings }))

/** A change of a webhook, of at least one field. */
export const validWebhookChange: fc.Arbitrary<object> = fc.oneof(
  webhookTarget,
  fc.record(webhookSettings, { requiredKeys: ["isPaused"] }),
)

/** A mail to a val: fields, or a whole message. */
export const validTestEmail: fc.Arbitrary<object> = fc.oneof(
  fc.record(
    {
      from: emailAddress,
      cc: emailAddresses,
      subject: fc.constantFrom("", "é".repeat(998)),
      text: text(0, 200),
      html: text(0, 200),
      attachments: fc.array(
        fc.record({ content: fc.base64String(), filename: fc.constantFrom("a.txt", "é.pdf") }),
        { maxLength: 3 },
      ),
    },
    { requiredKeys: [] },
  ),
  fc
    .tuple(fc.constantFrom("From: a@example.com\n", "From: a\r\n", ""), text(1, 200))
    .map(([head, rest]) => ({ raw: `${head}${rest}` })),
)

/** Few enough that what is stored is found again. */
const soundKey = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom("a", "a/b", "a//", "%", "😀?#") },
  { weight: 1, arbitrary: text(1, 512).filter(isNotDots) },
)

/** The content of a blob: mostly as small as most are, sometimes too large for its row. */
export const validBytes: fc.Arbitrary<Uint8Array> = fc.oneof(
  { weight: 20, arbitrary: fc.uint8Array({ maxLength: 64 }) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(65_536, 65_537, 600_000, 1_200_000)
      .map((size) => new Uint8Array(size)),
  },
)

const soundTime = fc.oneof(
  fc
    .date({
      min: new Date("0001-01-01T00:00:00Z"),
      max: new Date("9999-12-30T00:00:00Z"),
      noInvalidDate: true,
    })
    .map((date) => date.toISOString()),
  fc.constantFrom(
    "2024-02-29T00:00:00Z",
    "2024-01-01T00:00+02:00",
    "2024-01-01T00:00:00.123456789-0330",
    "2999-01-01T00:00:00Z",
    "2024-01-01T00:00:00,5Z",
    "2024-01-01T00:00",
    "2024-01-01",
  ),
)

const imports = fc
  .tuple(mark("val", "username"), mark("val", "name"))
  .map(([user, val]) => `import x from "http://hamlet.test/v/${user}/${val}"\nexport default x`)
const samples = fc.constantFrom(
  "\n",
  "export default () => 42",
  "export const f = <T,>(x: T) => foo.bar(x)",
  'import("https://esm.town/v/ada/VAL_1")',
  "import {",
  "({".repeat(500),
  "`${".repeat(300),
)
const soundCode = fc.oneof(
  { weight: 12, arbitrary: text(1, 2000) },
  { weight: 4, arbitrary: samples },
  { weight: 2, arbitrary: imports },
)

/** A statement on a small database that every user creates, with or without parameters. */
const soundSql = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.constantFrom(
      "create table if not exists t (id integer primary key, a)",
      "insert into t (a) values (1)",
      "select * from t",
      "select 1;",
      "insert into t (a) values (?) returning *",
      "select :a",
      "select ?1, @b",
      "drop table t",
      "delete from t",
      "pragma table_info(t)",
      "attach 'x' as y",
      "begin",
      "commit",
      "vacuum",
      "selec",
      "select 1; select 2",
      ";",
      "select load_extension('x')",
      "pragma foreign_keys",
    ),
  },
  { weight: 2, arbitrary: text(1, 1_000_000) },
)

const soundSearch = fc.oneof(
  fc.constantFrom(
    "val",
    "x",
    "=>",
    "foo.bar(",
    "%",
    "_",
    "'",
    '"',
    "\\",
    "%%%",
    "export default",
    "😀",
    "İ",
    "a b",
  ),
  mark("val", "name"),
  text(1, 512),
)
