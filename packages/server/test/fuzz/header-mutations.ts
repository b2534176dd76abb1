import fc from "fast-check"
import type { Mutation } from "./plan.ts"

/**
 * Header values may hold bytes only, and neither NUL nor a line break: everything else needs a raw
 * socket.
 */
const headerText = fc.oneof(
  fc.string({
    unit: fc
      .oneof(fc.integer({ min: 0x20, max: 0x7e }), fc.integer({ min: 0x80, max: 0xff }))
      .map((code) => String.fromCharCode(code)),
    maxLength: 40,
  }),
  fc.constantFrom(
    "",
    " ",
    ",",
    '"',
    "*",
    "0",
    "-1",
    "1e9",
    "999999999999999999999",
    "__proto__",
    "null",
    "a,b",
    "\t",
  ),
)

const values: Readonly<Record<string, fc.Arbitrary<string>>> = {
  authorization: fc.constantFrom(
    "Bearer",
    "Bearer ",
    "Basic YTpi",
    "bearer  ~bearer.0.token~  ",
    "BEARER ~bearer.1.token~",
    "Bearer ~bearer.0.token~ x",
    "~bearer.0.token~",
    `Bearer ${"x".repeat(60)}`,
    `Bearer hamlet_${"0".repeat(49)}`,
  ),
  "if-match": fc.constantFrom(
    '"',
    '""',
    '"1',
    "1",
    '"99999999999999999"',
    '"1","2"',
    "W/",
    'W/"1"',
    "-1",
    '"1-"',
    "*,*",
  ),
  "if-none-match": fc.constantFrom("*", '"', ",,,", 'W/"1-x"', '"a"'.repeat(2000), "W/*"),
  "idempotency-key": fc.constantFrom(
    "k",
    "key-1",
    "x".repeat(255),
    "x".repeat(256),
    "é",
    "' or 1=1",
    "~val.0.id~",
  ),
  "content-type": fc.constantFrom(
    "text/plain",
    "text/html; charset=utf-16",
    "application/json; charset=latin1",
    "application/javascript",
    "multipart/form-data; boundary=x",
    "multipart/form-data",
    "application/x-www-form-urlencoded",
    "application/octet-stream",
    "text",
    "/",
    "text/",
    ";",
    "application/json; charset=",
    "TEXT/PLAIN",
    "a/javascript;x",
  ),
  "content-encoding": fc.constantFrom(
    "gzip",
    "br",
    "identity",
    "IDENTITY",
    "gzip, identity",
    "x",
    "",
  ),
  "content-length": fc.constantFrom(
    "0",
    "1",
    "-1",
    "abc",
    "1e3",
    "3000000",
    "99999999999999999999",
    "1, 2",
    "",
  ),
  "transfer-encoding": fc.constantFrom("chunked", "gzip", "identity"),
  host: fc.constantFrom("evil.test", "", "a:b:c", "hamlet.test:99999"),
  "user-agent": fc.constantFrom("Mozilla/5.0", "", "x".repeat(5000)),
  accept: fc.constantFrom("text/event-stream", "*/*", "application/xml", "q=0"),
  range: fc.constantFrom(
    "bytes=0-1",
    "bytes=-1",
    "bytes=9999999-",
    "bytes=5-2",
    "bytes=99999999999999999999-",
    "bytes=-",
  ),
  "if-range": fc.constantFrom("*", '"x"', "Sun, 06 Nov 1994 08:49:37 GMT"),
  expect: fc.constant("100-continue"),
  cookie: fc.constantFrom("a=b", "__proto__=1"),
  origin: fc.constantFrom("null", "https://evil.test"),
  "access-control-request-method": fc.constantFrom("PUT", "FOO"),
  "x-forwarded-for": fc.constantFrom("1.2.3.4", "::1, x", ""),
  "x-http-method-override": fc.constantFrom("DELETE"),
  prefer: fc.constantFrom("respond-async"),
}

/** Sets a header to something odd, or sends more and longer ones than anybody does. */
export const headerMutations: fc.Arbitrary<Mutation> = fc.oneof(
  {
    weight: 30,
    arbitrary: fc
      .constantFrom(...Object.keys(values))
      .chain((name) => setHeader(name, fc.oneof(values[name] ?? headerText, headerText))),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(50, 300)
      .map((count) =>
        flood(Array.from({ length: count }, (_, index) => [`x-flood-${index}`, "1"] as const)),
      ),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(
        "if-none-match",
        "if-match",
        "idempotency-key",
        "authorization",
        "content-type",
        "x-other",
      )
      .map((name) => flood([[name, "a".repeat(50_000)]])),
  },
)

function setHeader(name: string, value: fc.Arbitrary<string>): fc.Arbitrary<Mutation> {
  return value.map((text) => (plan) => ({
    ...plan,
    headers: [...plan.headers.filter(([other]) => other !== name), [name, text]],
  }))
}

function flood(headers: readonly (readonly [string, string])[]): Mutation {
  return (plan) => ({ ...plan, headers: [...plan.headers, ...headers] })
}
