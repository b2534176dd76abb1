import { describe, expect, test } from "bun:test"
import { hashReadme } from "../../files/readme-file.ts"
import { decideReadme, type ReadmeDecision } from "./decide-readme.ts"

const none = hashReadme(null)
type Hash = string | undefined

const table: readonly (readonly [
  title: string,
  base: Hash,
  file: Hash,
  val: string,
  decision: ReadmeDecision,
])[] = [
  ["nothing anywhere", undefined, undefined, none, "note"],
  ["a new readme on the server", undefined, undefined, "v", "write"],
  ["a new readme on the server of a val that had none", none, undefined, "v", "write"],
  ["a new file", undefined, "f", none, "save"],
  ["a new file of a val that was known to have none", none, "f", none, "save"],
  ["the same on both sides", undefined, "v", "v", "note"],
  ["something else on both sides, without a base", undefined, "f", "v", "conflict"],
  ["an empty file, without a base", undefined, none, "v", "write"],
  ["nothing new", "b", "b", "b", "note"],
  ["a change on the server", "b", "b", "v", "write"],
  ["a change in the file", "b", "f", "b", "save"],
  ["the same change on both sides", "b", "v", "v", "note"],
  ["a change on both sides", "b", "f", "v", "conflict"],
  ["a readme that is gone on the server", "b", "b", none, "trash"],
  ["a readme that is gone on the server and changed in the file", "b", "f", none, "save"],
  ["a file that was emptied", "b", none, "b", "save"],
  ["a file that was emptied and a change on the server", "b", none, "v", "write"],
  ["a file that is gone", "b", undefined, "b", "note"],
  ["a file that is gone and a change on the server", "b", undefined, "v", "write"],
  ["both gone", "b", undefined, none, "note"],
]

describe("decideReadme", () => {
  for (const [title, base, file, val, decision] of table)
    test(`${title}: ${decision}`, () => expect(decideReadme({ base, file, val })).toBe(decision))
})
