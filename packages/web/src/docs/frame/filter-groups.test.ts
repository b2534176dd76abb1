import { describe, expect, test } from "bun:test"
import { realApi } from "../../../test/real-api.ts"
import { filterGroups } from "./filter-groups.ts"

describe("filterGroups", () => {
  const found = (query: string) =>
    filterGroups(realApi.groups, query).flatMap((group) =>
      group.operations.map((operation) => operation.id),
    )

  test("finds by method, path, name and scope, all words together", () => {
    expect(found("DELETE version")).toEqual(["deleteVersion"])
    expect(found("/v1/me/secrets put")).toEqual(["putSecret"])
    expect(found("admin")).toContain("createUser")
  })

  test("shows everything for nothing, and nothing for nonsense", () => {
    expect(filterGroups(realApi.groups, "  ")).toBe(realApi.groups)
    expect(found("zzz")).toEqual([])
  })
})
