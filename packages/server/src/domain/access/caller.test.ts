import { describe, expect, test } from "bun:test"
import { scope } from "@hamlet/contract"
import { AppError } from "../app-error.ts"
import { type AccessRule, assertAccess, type Caller } from "./caller.ts"
import { asOwner } from "./rights.ts"

const withScopes = (...scopes: readonly (typeof scope.options)[number][]): Caller => ({
  actorId: "u",
  actorName: "ada",
  ownerName: "ada",
  ...asOwner("u"),
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
      "a request without a token, where a scope is required",
      { auth: "required", scope: "val:read" },
      undefined,
      "unauthenticated",
    ],
    ["a caller, where no scope is needed", { auth: "required" }, withScopes(), "in"],
    ["a caller with the scope", { auth: "required", scope: "val:read" }, reader, "in"],
    [
      "a caller without the scope",
      { auth: "required", scope: "val:write" },
      reader,
      "missing_scope",
    ],
    [
      "a caller without the scope, where a request without a token is accepted",
      { auth: "optional", scope: "user:read" },
      reader,
      "missing_scope",
    ],
    [
      "an administrator without the scope",
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
  test.each(table)("accepts or refuses %s", (_, rule, caller, expected) => {
    expect(outcomeOf(() => assertAccess(rule, caller))).toBe(expected)
  })

  test.each(scope.options)(
    "names the missing scope %s in the message that clients search for",
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
