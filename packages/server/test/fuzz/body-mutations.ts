import fc from "fast-check"
import { deepJson, hostileBody, hostileBytes, hostileJson } from "./hostile-values.ts"
import type { Mutation, Plan, PlannedBody } from "./plan.ts"

/** Spoils the body: one field of it, its text or its bytes. A request that has none gets one. */
export function bodyMutations(): fc.Arbitrary<Mutation> {
  return fc.oneof(
    {
      weight: 40,
      arbitrary: fc
        .tuple(fc.nat(), hostileJson)
        .map(([index, json]) =>
          changeField(index, (fields, name) => ({ ...fields, [name]: json })),
        ),
    },
    {
      weight: 15,
      arbitrary: fc.nat().map((index) => changeField(index, without)),
    },
    {
      weight: 10,
      arbitrary: fc
        .tuple(strangeKey(), hostileJson)
        .map(([key, json]) => changeField(0, (fields) => ({ ...fields, [key]: json }))),
    },
    { weight: 10, arbitrary: hostileBody.map((text) => setBody({ kind: "text", text })) },
    { weight: 10, arbitrary: hostileBytes.map((bytes) => setBody({ kind: "bytes", bytes })) },
    {
      weight: 10,
      arbitrary: fc
        .nat()
        .map((index) => changeText((text) => text.slice(0, index % (text.length || 1)))),
    },
    {
      weight: 10,
      arbitrary: fc.constantFrom(...encodings).map((encode) => (plan: Plan) => ({
        ...plan,
        body: { kind: "bytes", bytes: encode(toText(plan)) } as const,
      })),
    },
    { weight: 2, arbitrary: deepJson.map((text) => setBody({ kind: "text", text })) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(fc.nat(), deepJson)
        .map(([index, json]) =>
          changeField(index, (fields, name) => ({ ...fields, [name]: json })),
        ),
    },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom(" ", "x", "[")
        .map((letter) => changeText((text) => text + letter.repeat(2_200_000))),
    },
  )
}

function without(fields: Readonly<Record<string, string>>, name: string): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).filter(([other]) => other !== name))
}

function strangeKey(): fc.Arbitrary<string> {
  return fc.constantFrom(
    "__proto__",
    "constructor",
    "prototype",
    "toString",
    "hasOwnProperty",
    "",
    "\0",
    "id",
    "version",
    "author",
    "userId",
    "a".repeat(10_000),
  )
}

const encodings = [
  (text: string) => Buffer.from(text, "utf16le"),
  (text: string) => Buffer.from(text, "utf16le").swap16(),
  (text: string) => Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, "utf16le")]),
  (text: string) => Buffer.from(`é${text}`, "latin1"),
  (text: string) => Bun.gzipSync(text),
  (text: string) => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(text)]),
  (text: string) => Buffer.concat([Buffer.from(text), Buffer.from([0x80])]),
] satisfies ((text: string) => Uint8Array)[]

function setBody(body: PlannedBody): Mutation {
  return (plan) => ({ ...plan, body })
}

function changeField(
  index: number,
  change: (fields: Readonly<Record<string, string>>, name: string) => Record<string, string>,
): Mutation {
  return (plan) => {
    const fields = plan.body?.kind === "fields" ? plan.body.fields : {}
    const names = [
      ...new Set([
        ...Object.keys(fields),
        ...Object.keys(plan.operation.body?.properties ?? { code: {} }),
      ]),
    ]
    return {
      ...plan,
      body: { kind: "fields", fields: change(fields, names[index % names.length] ?? "code") },
    }
  }
}

function changeText(change: (text: string) => string): Mutation {
  return (plan) => ({ ...plan, body: { kind: "text", text: change(toText(plan)) } })
}

/** The text of a body as it would be sent; one of bytes counts as none. */
export function toText({ body }: Pick<Plan, "body">): string {
  if (body?.kind === "text") return body.text
  if (body?.kind !== "fields") return ""
  return `{${Object.entries(body.fields)
    .map(([name, json]) => `${JSON.stringify(name)}:${json}`)
    .join(",")}}`
}
