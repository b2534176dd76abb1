import { type CursorKey, toCursorText } from "@hamlet/contract"
import fc from "fast-check"
import { bodyMutations } from "./body-mutations.ts"
import { headerMutations } from "./header-mutations.ts"
import { hostileOrLongText, hostileText } from "./hostile-values.ts"
import { operations } from "./operations.ts"
import { encodeSegment, type Mutation, type Plan, validPlan } from "./plan.ts"
import { mark } from "./valid-values.ts"

/** Requests to any operation: some sound, most with one to three things wrong. */
export function anyPlan(): fc.Arbitrary<Plan> {
  return fc
    .tuple(
      fc.oneof(...operations.map(validPlan)),
      fc.oneof(
        { weight: 1, arbitrary: fc.constant([]) },
        { weight: 2, arbitrary: fc.array(anyDamage(), { minLength: 1, maxLength: 3 }) },
      ),
    )
    .map(([plan, damages]) =>
      damages.reduce((damaged: Plan, damage) => ({ ...damage(damaged), isValid: false }), plan),
    )
}

function anyDamage(): fc.Arbitrary<Mutation> {
  return fc.oneof(
    { weight: 1, arbitrary: methodDamage },
    { weight: 3, arbitrary: pathDamage },
    { weight: 3, arbitrary: queryDamage },
    { weight: 4, arbitrary: tokenDamage },
    { weight: 3, arbitrary: headerMutations },
    { weight: 5, arbitrary: bodyMutations() },
  )
}

const methodDamage: fc.Arbitrary<Mutation> = fc
  .constantFrom(
    "GET",
    "HEAD",
    "OPTIONS",
    "POST",
    "PUT",
    "DELETE",
    "PATCH",
    "TRACE",
    "CONNECT",
    "PROPFIND",
  )
  .map((method) => (plan: Plan) => ({ ...plan, method }))

const brokenSegments =
  String.raw`.. . %2e%2e % %zz %2 %00 %2F %ED%A0%80 %C0%AE %u0041 ~ @ : ;a=b a%20b %25 %2525 * \ {val_id}`.split(
    " ",
  )
const pathDamage: fc.Arbitrary<Mutation> = fc.oneof(
  replaceSegment(hostileOrLongText.map(encodeSegment)),
  replaceSegment(fc.constantFrom("", ...brokenSegments)),
  // The path keeps its meaning, and is written otherwise.
  fc
    .nat()
    .map(
      (index) => (plan: Plan) =>
        mapSegment(plan, index, (segment) =>
          segment.replaceAll(/[a-z]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
        ),
    ),
  fc
    .nat()
    .map((index) => (plan: Plan) => mapSegment(plan, index, (segment) => segment.toUpperCase())),
  fc.nat().map((index) => (plan: Plan) => ({
    ...plan,
    segments: plan.segments.toSpliced(index % plan.segments.length, 1),
  })),
  fc
    .tuple(fc.nat(), fc.constantFrom("", "..", "x", "like", "versions"))
    .map(([index, segment]) => (plan: Plan) => ({
      ...plan,
      segments: plan.segments.toSpliced(index % plan.segments.length, 0, segment),
    })),
  fc
    .constantFrom(
      [""],
      ["", ""],
      ["versions"],
      ["versions", "1"],
      ["constructor"],
      Array.from({ length: 2000 }, () => "a"),
    )
    .map((more) => (plan: Plan) => ({ ...plan, segments: [...plan.segments, ...more] })),
)

function replaceSegment(segment: fc.Arbitrary<string>): fc.Arbitrary<Mutation> {
  return fc.tuple(fc.nat(), segment).map(
    ([index, text]) =>
      (plan: Plan) =>
        mapSegment(plan, index, () => text),
  )
}

/** The first segment, if others are there, stays: without it no request would reach anything. */
function mapSegment(plan: Plan, index: number, change: (segment: string) => string): Plan {
  if (plan.segments.length === 0) return plan
  const place = plan.segments.length === 1 ? 0 : 1 + (index % (plan.segments.length - 1))
  return { ...plan, segments: plan.segments.with(place, change(plan.segments[place] ?? "")) }
}

const knownParameter = fc.constantFrom(
  "limit",
  "offset",
  "since",
  "until",
  "error",
  "source",
  "relationship",
  "privacy",
  "userId",
  "query",
  "prefix",
  "after",
  "cursor",
)
const cursorKey = fc.oneof(
  fc.constantFrom<CursorKey>(
    null,
    0,
    1,
    -1,
    2 ** 31,
    2 ** 53,
    1.5,
    "x",
    "ffffffff-ffff-ffff-ffff-ffffffffffff",
  ),
  fc.maxSafeInteger(),
  fc.uuid(),
)
const strangeParameter = fc.constantFrom(
  "limit[]",
  "limit[0]",
  "limit[$gt]",
  "__proto__",
  "__proto__[limit]",
  "constructor",
  "toString",
  "",
  "hasOwnProperty",
  "LIMIT",
)
const queryDamage: fc.Arbitrary<Mutation> = fc.oneof(
  addQuery(fc.array(cursorKey, { maxLength: 5 }).map((keys) => `cursor=${toCursorText(keys)}`)),
  addQuery(
    fc
      .tuple(knownParameter, hostileOrLongText)
      .map(([name, text]) => `${name}=${encodeURIComponent(text.toWellFormed())}`),
  ),
  addQuery(
    fc
      .tuple(strangeParameter, hostileText)
      .map(([name, text]) => `${name}=${encodeURIComponent(text.toWellFormed())}`),
  ),
  addQuery(
    fc
      .tuple(
        knownParameter,
        fc.constantFrom(
          "%",
          "%zz",
          "%00",
          "%ED%A0%80",
          "%FF",
          "a=b",
          "1&",
          "1,2",
          ",",
          "http,,api",
          "2024-01-01T00:00:00+02:00",
        ),
      )
      .map((pair) => pair.join("=")),
  ),
  addQuery(
    fc.tuple(knownParameter, fc.constantFrom("", "=", "?", "#x")).map((pair) => pair.join("")),
  ),
  // What was given once is given again.
  fc.nat().map((index) => (plan: Plan) => ({
    ...plan,
    query: [...plan.query, ...plan.query.slice(index % (plan.query.length || 1))],
  })),
  fc.constant((plan: Plan) => ({ ...plan, query: [] })),
  {
    weight: 1,
    arbitrary: addQuery(
      fc.constantFrom(
        "a=1&".repeat(3000),
        "source=api&".repeat(1000),
        `query=${"x".repeat(12_000)}`,
        "limit=1&".repeat(1000),
      ),
    ),
  },
)

function addQuery(text: fc.Arbitrary<string>): fc.Arbitrary<Mutation> {
  return text.map((more) => (plan: Plan) => ({ ...plan, query: [...plan.query, more] }))
}

const tokenDamage: fc.Arbitrary<Mutation> = fc
  .oneof(mark("otherBearer", "token"), fc.constant(undefined))
  .map((token) => (plan: Plan) => ({
    ...plan,
    headers: [
      ...plan.headers.filter(([name]) => name !== "authorization"),
      ...(token === undefined ? [] : [["authorization", `Bearer ${token}`] as const]),
    ],
  }))
