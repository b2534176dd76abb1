import { expect, test } from "bun:test"
import { mkdtempSync, rmSync, statfsSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { spreadFolders } from "./spread-folders.ts"
import { notRun } from "./testing/sandbox-testing.ts"

const ext4 = 0xef53
const isExt4 = process.platform === "linux" && statfsSync(tmpdir()).type === ext4
if (!isExt4) notRun("spreadFolders", "the temporary folder is not on ext4")

test.if(isExt4)("spreadFolders marks a folder as the top of others", () => {
  const folder = mkdtempSync(join(tmpdir(), "hamlet-spread-test-"))
  try {
    expect(spreadFolders(folder)).toBe(true)
    const listed = Bun.which("lsattr") && Bun.spawnSync(["lsattr", "-d", folder]).stdout.toString()
    if (listed) expect(listed.split(" ")[0]).toContain("T")
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test.if(process.platform === "linux")("spreadFolders leaves other file systems as they are", () => {
  expect(spreadFolders("/proc")).toBe(false)
})
