import { describe, expect, test } from "bun:test"
import { findLocalPathProblem } from "./local-paths.ts"

describe("findLocalPathProblem", () => {
  for (const path of [
    "",
    "..",
    "../a",
    "a/../../b",
    "/etc/passwd",
    "a//b",
    "a\\b",
    "a\0b",
    "C:\\a",
    ".git/config",
    "a/.GIT/hooks/x",
    ".git./config",
    "git~1/config",
    ".hamlet/state.json",
    ".Hamlet",
    "a".repeat(256),
    `${"a/".repeat(20)}a`,
  ])
    test(`refuses ${JSON.stringify(path.slice(0, 40))}`, () =>
      expect(findLocalPathProblem(path)).toBeString())

  for (const path of ["main.tsx", "a/b/c.json", ".gitignore", "git/x", "con.ts", "[id]/$x(1).ts"])
    test(`allows ${path}`, () => expect(findLocalPathProblem(path, "linux")).toBeUndefined())

  for (const path of ["con.ts", "a/NUL", "lpt1.tsx", "a.", "Aux"])
    test(`refuses ${path} on Windows`, () =>
      expect(findLocalPathProblem(path, "win32")).toBeString())
})
