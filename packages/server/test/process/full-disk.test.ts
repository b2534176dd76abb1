import { describe, expect, test } from "bun:test"
import { closeSync, openSync, writeSync } from "node:fs"
import { createClient } from "@hamlet/contract/client"
import { notRun, waitUntil } from "@hamlet/kit/testing"
import { chosenToken, openServerFixture } from "../support/server-fixture.ts"

const canMount =
  process.platform === "linux" && Bun.spawnSync(["unshare", "--mount", "true"]).exitCode === 0
if (!canMount) notRun("servers on full and read-only disks", "the tests may not mount file systems")

/**
 * Starts the program where a disk of its own is mounted, in a mount namespace that goes with it.
 */
const onDisk = (script: string) => [
  "unshare",
  "--mount",
  "sh",
  "-c",
  `set -e; mkdir -p "$HAMLET_DATA_DIR"; ${script}; exec "$@"`,
  "sh",
]
const fill = (folder: string) => `cat /dev/zero >"${folder}/filler" 2>/dev/null || :`
const mount = (folder: string, options: string) => `mount -t tmpfs -o ${options} none "${folder}"`

/** One sentence, and no stack. */
const sentence = (words: string) => new RegExp(`^Cannot [^\\n]*${words}[^\\n]*\\n$`)

describe.if(canMount)("hamlet serve", () => {
  test.each([
    [
      "a disk that is full",
      `${mount("$HAMLET_DATA_DIR", "size=64k")}; ${fill("$HAMLET_DATA_DIR")}`,
      "full|no space left",
    ],
    ["a disk that is read-only", mount("$HAMLET_DATA_DIR", "ro"), "read-only"],
    [
      "a full folder for temporary files",
      `${mount("$TMPDIR", "size=64k")}; ${fill("$TMPDIR")}`,
      "no space left",
    ],
    ["a read-only folder for temporary files", mount("$TMPDIR", "ro"), "read-only"],
  ])("refuses to start on %s, with one sentence", async (_name, script, words) => {
    await using fixture = await openServerFixture(undefined, onDisk(script))
    // A short one, since the addresses of sockets in it may not be long.
    const { exitCode, stdout, stderr } = await fixture.start(["serve"], { TMPDIR: "/mnt" }).ended()
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" })
    expect(stderr).toMatch(sentence(`(${words})`))
  })

  test("ends when the disk becomes full, and reports it", async () => {
    await using fixture = await openServerFixture(
      undefined,
      onDisk(mount("$HAMLET_DATA_DIR", "size=8m")),
    )
    const { hamlet, baseUrl } = await fixture.serve({ HAMLET_LOG_LEVEL: "none" })
    const client = createClient({ baseUrl, token: chosenToken, retriesMax: 0 })
    const { id } = await client.createVal({ code: "export default () => 1" })
    await client.createRun({ val_id: id })
    fillFrom(`/proc/${hamlet.pid}/root${fixture.dataDir}/filler`)
    const refused = await client
      .createVal({ name: "lost", code: `/* ${"x".repeat(60_000)} */` })
      .catch((error: unknown) => error)
    expect(refused).toMatchObject({ code: "database_unavailable" })
    await waitUntil(async () => (await fetch(`${baseUrl}/readyz`)).status === 503)
    hamlet.signal("SIGTERM")
    const { stderr } = await hamlet.ended()
    expect(stderr.replaceAll(/^Cannot [^\n]+\n/gm, "")).toBe("")
  })
})

/** Writes until nothing more fits. */
function fillFrom(path: string): void {
  const file = openSync(path, "w")
  try {
    for (let bytes = 65_536; bytes >= 1; bytes /= 2)
      try {
        for (;;) writeSync(file, Buffer.alloc(bytes))
      } catch {
        // Less may still fit.
      }
  } finally {
    closeSync(file)
  }
}
