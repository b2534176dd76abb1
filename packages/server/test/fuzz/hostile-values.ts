import fc from "fast-check"
import { mark } from "./valid-values.ts"

/**
 * Objects, as JSON, that fail when they are taken for something else: compared, made a text or a
 * number, awaited, written as JSON.
 */
export const hostileObjects: readonly string[] = [
  ...["length", "size", "toString", "valueOf", "toJSON", "then", "constructor"].flatMap((name) => [
    `{"${name}":1}`,
    `{"${name}":{"toString":1,"valueOf":1}}`,
  ]),
  '{"__proto__":{"length":{"toString":1}}}',
  '{"length":{"toString":1},"size":{"toString":1},"toString":1,"valueOf":1,"toJSON":1,"then":1,"0":"a"}',
]

/** Texts that have broken other servers. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.string({ unit: "binary", maxLength: 30 }) },
  {
    weight: 2,
    arbitrary: fc.string({
      unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
      maxLength: 10,
    }),
  },
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      "",
      " ",
      "\0",
      "a\0b",
      "\ud800",
      "x\udfff",
      "\u202e",
      "\r\n",
      "null",
      "undefined",
      "NaN",
      "true",
      "[object Object]",
      "__proto__",
      "constructor",
      "toString",
      "-1",
      "0",
      "1e999",
      "0x10",
      "1.5",
      "+1",
      "١",
      "9".repeat(400),
      "-9223372036854775809",
      "18446744073709551616",
      "' or 1=1 --",
      "'; drop table vals; --",
      "$1",
      "?",
      "%",
      "_",
      "\\",
      "${1}",
      "{{1}}",
      "<script>",
      "../../etc/passwd",
      "..",
      ".",
      "%00",
      "http://[::1",
      "file:///etc/passwd",
      "@",
      "@@",
      "a@b@c",
      "*",
      "\ufeff",
      "ﷺ".repeat(50),
      "e\u0301".repeat(20),
      "1970-01-01",
      "Infinity",
    ),
  },
  { weight: 1, arbitrary: mark("val") },
)

/** Hostile text, and now and then one that is longer than anything may be. */
const nastyOrHugeText: fc.Arbitrary<string> = fc.oneof(
  { weight: 60, arbitrary: hostileText },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom("a", "é", "😀", "\0", "("), fc.constantFrom(300, 70_000, 256_001))
      .map(([unit, count]) => unit.repeat(count)),
  },
)

/** Hostile text, now and then as long as an address may be on the wire. */
export const hostileOrLongText: fc.Arbitrary<string> = fc.oneof(
  { weight: 20, arbitrary: hostileText },
  { weight: 1, arbitrary: fc.constantFrom("a", "é", "\0", "(").map((unit) => unit.repeat(2_000)) },
)

/** Any JSON value, as its text: some have no value that says the same. */
export const hostileJson: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: nastyOrHugeText.map((text) => JSON.stringify(text)) },
  { weight: 4, arbitrary: fc.json({ maxDepth: 3 }) },
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      "null",
      "true",
      "false",
      "0",
      "-0",
      "-1",
      "1.5",
      "1e400",
      "-1e400",
      "1e-400",
      "123456789012345678901234567890",
      "2147483648",
      "[]",
      "{}",
      "[null]",
      '[["val:read"]]',
      '["val:read","val:read"]',
      '{"length":3}',
      '{"__proto__":null}',
      '"\\ud800"',
      '"\\u0000"',
      ...hostileObjects,
    ),
  },
)

/** JSON that is nested so deeply that a reader who recurses is lost. */
export const deepJson: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom(100, 1_000, 100_000),
    fc.constantFrom(
      ["[", "]", "1"],
      ['{"a":', "}", "1"],
      ['[{"code":', "}]", '"x"'],
      ["[", "", ""],
    ),
  )
  .map(
    ([levels, [open = "", close = "", inner = ""]]) =>
      open.repeat(levels) + inner + close.repeat(levels),
  )

/** Whole bodies that are no JSON, or not quite. */
export const hostileBody: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    "",
    " ",
    "null",
    "[]",
    '""',
    "0",
    "{",
    "}",
    "{]",
    '{"code"',
    '{"code":}',
    '{"code":"x",}',
    "{'code':'x'}",
    '{"code":"x"}{"code":"y"}',
    "\ufeff{}",
    '{"code":"x"} //',
    "NaN",
    "undefined",
    "\0",
    "export default 1",
    "<xml/>",
    "a=1&code=2",
    "--boundary\r\n",
    '{"code":"x","code":1}',
    '{"code":"\\x"}',
    '"\u2028"',
  ),
  hostileText,
  fc.json(),
)

/** Bytes that are no UTF-8, or something else packed. */
export const hostileBytes: fc.Arbitrary<Uint8Array> = fc.oneof(
  fc.uint8Array({ maxLength: 60 }),
  fc
    .constantFrom(
      [0xff],
      [0xc0, 0x80],
      [0xed, 0xa0, 0x80],
      [0xf4, 0x90, 0x80, 0x80],
      [0xef, 0xbb, 0xbf],
      [0xff, 0xfe, 0x7b, 0],
      [0x22, 0xe2, 0x82, 0x22],
    )
    .map((bytes) => Uint8Array.from(bytes)),
  fc.constant(Bun.gzipSync('{"code":"x"}')),
  fc.constant(Buffer.from('{"code":"é"}', "latin1")),
)
