import { describe, expect, test } from "bun:test"
import { time } from "@hamlet/contract"
import { z } from "zod"
import { createView } from "./view.ts"

const schema = z.object({
  id: z.string(),
  author: z.object({ name: z.string(), seenAt: time.nullable() }).nullable(),
  tags: z.array(z.object({ name: z.string() })),
  createdAt: time.describe("When it was created"),
  endedAt: time.nullable(),
  url: z.string(),
  note: z.string().optional(),
})

const record = {
  id: "7",
  author: { name: "ada", seenAt: 0, password: "x" },
  tags: [{ name: "a", password: "x" }],
  createdAt: 1,
  endedAt: null,
  password: "x",
}

describe("createView", () => {
  const toView = createView(schema, ({ id }: typeof record, base: string) => ({
    url: `${base}/${id}`,
  }))

  test("has the fields of the schema and no other, at any depth", () => {
    expect(toView(record, "https://x.test")).toEqual({
      id: "7",
      author: { name: "ada", seenAt: "1970-01-01T00:00:00.000Z" },
      tags: [{ name: "a" }],
      createdAt: "1970-01-01T00:00:00.001Z",
      endedAt: null,
      url: "https://x.test/7",
    })
  })

  test("lists fields in the order of the schema, and prefers computed ones", () => {
    const toPlain = createView(schema, (_it: typeof record) => ({ author: null, url: "u" }))
    expect(JSON.stringify(toPlain(record))).toBe(
      '{"id":"7","author":null,"tags":[{"name":"a"}],"createdAt":"1970-01-01T00:00:00.001Z","endedAt":null,"url":"u"}',
    )
  })
})
