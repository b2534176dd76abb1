import { describe, expect, test } from "bun:test"
import { findStartProblem } from "./start-problem.ts"

const failed = (code: string) => Object.assign(new Error("posix_spawn"), { code })

describe("findStartProblem", () => {
  test("names a missing program, whatever the error was", () => {
    const programs = { Deno: process.execPath, bubblewrap: "/nowhere/bwrap" }
    expect(findStartProblem(failed("EAGAIN"), programs)).toBe(
      'bubblewrap is no longer at "/nowhere/bwrap"',
    )
  })

  for (const [code, problem] of Object.entries({
    EAGAIN: "ulimit -u",
    EMFILE: "ulimit -n",
    ENOMEM: "memory",
    ENOSPC: "full",
  }))
    test(`explains ${code}`, () => {
      expect(findStartProblem(failed(code), { Deno: process.execPath })).toContain(problem)
    })

  test("explains a sandbox without threads at its start by a limit of the system", () => {
    const error = new Error("it reached the limit of 64 threads", {
      cause: { reason: "processes" },
    })
    expect(findStartProblem(error, { Deno: process.execPath })).toContain("pids.max")
  })

  test("returns undefined for other errors", () => {
    expect(
      findStartProblem(new Error("it was not ready"), { Deno: process.execPath }),
    ).toBeUndefined()
    expect(findStartProblem("odd", {})).toBeUndefined()
  })
})
