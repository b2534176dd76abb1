import { afterEach, beforeEach, expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openFolderState } from "./folder-state.ts"

const server = "https://hamlet.example"
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hamlet-state-"))
})
afterEach(() => rmSync(folder, { recursive: true }))

function open(path: string) {
  mkdirSync(join(folder, ".hamlet"))
  const files = { [path]: { id: "1", version: 1, hash: "x" } }
  writeFileSync(join(folder, ".hamlet", "state.json"), JSON.stringify({ [server]: files }))
  return openFolderState(folder, server).files
}

test.each(["hello.ts", "inner/hello.ts", "..hello.ts"])(
  "openFolderState reads the state of %s",
  (path) => {
    expect([...open(path).keys()]).toEqual([path])
  },
)

test.each(["../hello.ts", "inner/../../hello.ts", "/tmp/hello.ts", "..", "..\\hello.ts"])(
  "openFolderState refuses the state of %s, which is outside of the folder",
  (path) => {
    expect(() => open(path)).toThrow("its content is not valid")
  },
)
