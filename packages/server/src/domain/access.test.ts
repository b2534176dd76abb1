import { describe, expect, test } from "bun:test"
import { scope } from "@hamlet/contract"
import { type AccessRule, assertAccess, type Caller } from "./access.ts"
import { AppError } from "./app-error.ts"

const withScopes = (...scopes: readonly (typeof scope.options)[number][]): Caller => ({
  userId: "u",
  username: "ada",
  tokenId: "t",
  scopes: new Set(scopes),
})

describe("assertAccess", () => {
  const reader = withScopes("val:read")
  const table: readonly [string, AccessRule, Caller | undefined, string][] = [
    ["nobody, where no token is read", { auth: "none" }, undefined, "in"],
    ["nobody, where a token may be sent", { auth: "optional", scope: "val:read" }, undefined, "in"],
    ["nobody, where a token must be sent", { auth: "required" }, undefined, "unauthenticated"],
    [
      "nobody, where a token with a scope must be sent",
      { auth: "required", scope: "val:read" },
      undefined,
      "unauthenticated",
    ],
    ["a caller, where no scope is needed", { auth: "required" }, withScopes(), "in"],
    ["a caller who has the scope", { auth: "required", scope: "val:read" }, reader, "in"],
    [
      "a caller who lacks the scope",
      { auth: "required", scope: "val:write" },
      reader,
      "missing_scope",
    ],
    [
      "a caller who lacks the scope, where nobody would do",
      { auth: "optional", scope: "user:read" },
      reader,
      "missing_scope",
    ],
    [
      "an administrator who lacks the scope",
      { auth: "required", scope: "val:write" },
      withScopes("admin"),
      "missing_scope",
    ],
    [
      "a caller with every other scope",
      { auth: "required", scope: "admin" },
      withScopes(...scope.exclude(["admin"]).options),
      "missing_scope",
    ],
  ]
  test.each(table)("answers %s", (_, rule, caller, expected) => {
    expect(outcomeOf(() => assertAccess(rule, caller))).toBe(expected)
  })

  test.each(scope.options)(
    "names the missing scope %s with the words that clients look for",
    (missing) => {
      expect(() => assertAccess({ auth: "required", scope: missing }, withScopes())).toThrow(
        new AppError(
          "missing_scope",
          `Cannot do this: the token does not have the required permissions (scope ${missing})`,
        ),
      )
    },
  )
})

function outcomeOf(run: () => void): string {
  try {
    run()
    return "in"
  } catch (error) {
    return error instanceof AppError ? error.code : String(error)
  }
}
