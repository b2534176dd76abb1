import { expect, test } from "bun:test"
import { mkdtempSync, rmSync, statfsSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { spreadFolders } from "./spread-folders.ts"

const ext4 = 0xef53

test.if(process.platform === "linux")(
  "spreadFolders marks a folder of ext4 as the top of others, and leaves other file systems as they are",
  () => {
    const folder = mkdtempSync(join(tmpdir(), "hamlet-spread-test-"))
    try {
      const isExt4 = statfsSync(folder).type === ext4
      expect([spreadFolders(folder), spreadFolders("/proc")]).toEqual([isExt4, false])
      const listed =
        Bun.which("lsattr") && Bun.spawnSync(["lsattr", "-d", folder]).stdout.toString()
      if (isExt4 && listed) expect(listed.split(" ")[0]).toContain("T")
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
)
