import { describe, expect, test } from "bun:test"
import { realApi } from "../../../test/support/real-api.ts"
import { filterGroups } from "./filter-groups.ts"

describe("filterGroups", () => {
  const found = (query: string) =>
    filterGroups(realApi.groups, query).flatMap((group) =>
      group.operations.map((operation) => operation.id),
    )

  test("matches all words in method, path, name and scope", () => {
    expect(found("DELETE comment")).toEqual(["deleteComment"])
    expect(found("/v1/me/secrets put")).toEqual(["putSecret"])
    expect(found("admin")).toContain("createUser")
  })

  test("returns all groups for an empty query, and none without a match", () => {
    expect(filterGroups(realApi.groups, "  ")).toBe(realApi.groups)
    expect(found("zzz")).toEqual([])
  })
})
