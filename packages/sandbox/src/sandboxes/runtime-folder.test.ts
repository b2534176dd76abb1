import { describe, expect, test } from "bun:test"
import {
  chmodSync,
  chownSync,
  copyFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import { notRun } from "@hamlet/kit/testing"
import { RuntimeFolder } from "./runtime-folder.ts"
import {
  createDataDir,
  denoPath,
  findRuntimeFolder,
  hasBubblewrap,
  isRoot,
  openSandboxes,
} from "./testing/sandbox-testing.ts"
import { tryTool } from "./testing/try-tool.ts"

const endMsMax = 10_000
const nobody = 65_534
const isPrivateTested = isRoot && process.platform === "linux"
if (!isPrivateTested)
  notRun("a checkout that other users cannot enter", "the tests do not run as root on Linux")

/** A folder that only its owner may enter, like the home of root, with the program in it. */
function openPrivateFolder(program: string) {
  const folder = mkdtempSync(join(tmpdir(), "hamlet-private-"))
  chmodSync(folder, 0o700)
  const path = join(folder, basename(program))
  try {
    linkSync(program, path)
  } catch {
    copyFileSync(program, path)
  }
  return { path, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) }
}

async function openFolder(dataDir: string) {
  const folder = await RuntimeFolder.create(dataDir, endMsMax)
  return { folder, [Symbol.dispose]: () => folder.stop() }
}

describe("RuntimeFolder", () => {
  test("share returns the path of a reachable file, and links or copies others", async () => {
    const shell = realpathSync("/bin/sh")
    using hidden = openPrivateFolder(shell)
    const dataDir = createDataDir()
    using opened = await openFolder(dataDir)
    const { folder } = opened
    expect(folder.share("/bin/sh")).toBe(shell)
    const shared = folder.share(hidden.path)
    expect(dirname(shared)).toBe(folder.path)
    expect(statSync(shared).mode & 0o777).toBe(0o755)
    expect(folder.share(hidden.path)).toBe(shared)
    rmSync(dataDir, { recursive: true })
  })

  test.if(isRoot)("takes another name when another user has taken its name", async () => {
    const dataDir = createDataDir()
    const taken = findRuntimeFolder(dataDir)
    mkdirSync(taken)
    chownSync(taken, nobody, nobody)
    {
      using opened = await openFolder(dataDir)
      const parent = dirname(opened.folder.path)
      expect(parent).not.toBe(taken)
      expect(dirname(parent)).toBe(dirname(taken))
      // The next server sweeps this name too.
      expect(basename(parent)).toMatch(/^hamlet-0-[0-9a-f]{8}$/)
      expect(statSync(parent).uid).toBe(0)
    }
    expect(statSync(taken).uid).toBe(nobody)
    rmSync(taken, { recursive: true })
    rmSync(dataDir, { recursive: true })
  })
})

describe.if(isPrivateTested)("Sandboxes in a checkout that other users cannot enter", () => {
  test.each(hasBubblewrap ? (["bubblewrap", "deno"] as const) : (["deno"] as const))(
    "work as elsewhere: %s",
    async (isolation) => {
      using hidden = openPrivateFolder(denoPath)
      using helper = openPrivateFolder(realpathSync(Bun.which("true") ?? "/bin/true"))
      await using usual = await openSandboxes({ isolation })
      await using opened = await openSandboxes({ isolation, denoPath: hidden.path })
      expect(opened.sandboxes.report).toEqual(usual.sandboxes.report)
      // esbuild, which bundles packages, is a program of the checkout too.
      expect(await tryTool(opened.sandboxes, { helper: helper.path })).toBe(0)
    },
  )
})
