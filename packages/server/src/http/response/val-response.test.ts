import { describe, expect, test } from "bun:test"
import { val as valSchema } from "@hamlet/contract"
import type { Val } from "../../domain/vals/vals.ts"
import { createLinks } from "./links.ts"
import { createValResponse } from "./val-response.ts"

const links = createLinks("http://hamlet.test", "vals.test")
const val: Val = {
  id: "01890000-0000-7000-8000-000000000001",
  ownerId: "01890000-0000-7000-8000-000000000002",
  ownerSecretsVersion: 0,
  isOwnerSuspended: false,
  ownerName: "ada",
  name: "hello",
  privacy: "public",
  type: "http",
  readme: null,
  version: 3,
  code: "1",
  versionCreatedAt: 3,
  likeCount: 0,
  referenceCount: 0,
  createdAt: 1,
  updatedAt: 2,
  runStartedAt: null,
  runEndedAt: null,
}

describe("createValAnswer", () => {
  test("answers with the val as the contract has it, tagged with its version", () => {
    const answer = createValResponse(links)(val)
    expect(answer.status).toBe(200)
    expect(valSchema.safeParse(JSON.parse(String(answer.body))).error).toBeUndefined()
    expect(answer.headers.etag).toStartWith('"3-')
  })

  test("writes out the same val once", () => {
    const answerVal = createValResponse(links)
    expect(answerVal(val)).toBe(answerVal(val))
  })

  test("never gives the answer of a val that has changed since", () => {
    const answerVal = createValResponse(links)
    const before = answerVal(val)
    for (const change of [
      { code: "2" },
      { likeCount: 1 },
      { privacy: "private" as const },
      { readme: "new" },
      { updatedAt: 5 },
      { ownerName: "bob" },
    ]) {
      const after = answerVal({ ...val, ...change })
      expect(after.body).not.toBe(before.body)
      expect(after.headers.etag).not.toBe(before.headers.etag)
    }
    expect(answerVal({ ...val })).toEqual(before)
  })
})
