import { describe, expect, test } from "bun:test"
import { val as valSchema } from "@hamlet/contract"
import { asOwner } from "../../domain/access/rights.ts"
import type { Val } from "../../domain/vals/vals.ts"
import { createLinks } from "./links.ts"
import { createValResponses, toValResponse } from "./val-response.ts"

const links = createLinks("http://hamlet.test", "vals.test")
const val: Val = {
  id: "01890000-0000-7000-8000-000000000001",
  ownerId: "01890000-0000-7000-8000-000000000002",
  ownerSecretsVersion: 0,
  isOwnerSuspended: false,
  isOwnerOrg: false,
  ownerName: "ada",
  name: "hello",
  privacy: "public",
  type: "http",
  readme: null,
  description: null,
  imageUrl: null,
  version: 3,
  code: "1",
  endpointFileId: null,
  mailFileId: null,
  file: { id: "", path: "main.tsx", since: 3, branchId: "", branchName: "main", isEntry: true },
  versionCreatedAt: 3,
  likeCount: 0,
  referenceCount: 0,
  forkCount: 0,
  fileCount: 1,
  branchCount: 1,
  forkedFrom: null,
  createdAt: 1,
  updatedAt: 2,
  runStartedAt: null,
  runEndedAt: null,
}

describe("toValResponse", () => {
  test("sends the val in the format of the contract, with its version in the ETag", () => {
    const response = toValResponse(val, links, undefined)
    expect(response.status).toBe(200)
    expect(valSchema.safeParse(JSON.parse(String(response.body))).error).toBeUndefined()
    expect(response.headers.etag).toStartWith('"3-')
  })

  test("changes body and ETag with every change of the val", () => {
    const before = toValResponse(val, links, undefined)
    for (const change of [
      { code: "2" },
      { likeCount: 1 },
      { forkCount: 1 },
      { privacy: "private" as const },
      { readme: "new" },
      { updatedAt: 5 },
      { ownerName: "bob" },
    ]) {
      const after = toValResponse({ ...val, ...change }, links, undefined)
      expect(after.body).not.toBe(before.body)
      expect(after.headers.etag).not.toBe(before.headers.etag)
    }
    expect(toValResponse({ ...val }, links, undefined)).toEqual(before)
  })
})

describe("createValResponses", () => {
  test("writes the response of a val once, and that of another state of the val anew", () => {
    const respond = createValResponses(links)
    const first = respond(val, undefined)

    expect(first).toEqual(toValResponse(val, links, undefined))
    expect(respond(val, asOwner("another user"))).toBe(first)
    expect(respond({ ...val, likeCount: 1 }, undefined).body).not.toBe(first.body)
  })

  test("shows the private original of a fork to its owner only, in whatever order they ask", () => {
    const origin = {
      id: "01890000-0000-7000-8000-000000000003",
      name: "original",
      version: 1,
      privacy: "private" as const,
      ownerId: "01890000-0000-7000-8000-000000000004",
      ownerName: "eve",
    }
    const fork: Val = { ...val, forkedFrom: origin }
    const respond = createValResponses(links)
    const shown = [undefined, origin.ownerId, val.ownerId, origin.ownerId].map((userId) => {
      const { body } = respond(fork, userId === undefined ? undefined : asOwner(userId))
      return JSON.parse(String(body)).forkedFrom?.name ?? null
    })

    expect(shown).toEqual([null, "original", null, "original"])
  })
})
