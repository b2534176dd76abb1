import { expect, test } from "bun:test"
import { listIsolationWarnings } from "./isolation-advice.ts"

test.each([
  ["bwrap is not installed"],
  ["setpriv is not installed"],
  ["bubblewrap needs Linux"],
  ["bwrap: Can't do this"],
])("listIsolationWarnings says in a sentence what to do when %j", (detail) => {
  const report = { level: "deno" as const, details: [detail] }
  expect(listIsolationWarnings(report, false).at(-1)).toMatch(
    /^This server is for one user on this machine only; (?:install|run|allow|give|the container forbids) .+ and start it again, or set HAMLET_ISOLATION=deno to lift that$/,
  )
})
