import { describe, expect, test } from "bun:test"
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { open, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { createBackupChecker } from "@hamlet/contract/backup"
import { hamletPath } from "../support/processes.ts"
import { useStage } from "../support/shared-stage.ts"
import type { Person, Stage } from "../support/stage.ts"
import { openBrokenTap, openTap } from "../support/tap.ts"
import { until } from "../support/until.ts"

const isRoot = process.getuid?.() === 0

/** A user with all scopes, in an empty folder. */
async function openAdmin(stage: Stage): Promise<Person> {
  return await stage.holder(stage.admin.token)
}

function summarise(bytes: Uint8Array) {
  const checker = createBackupChecker()
  checker.add(bytes)
  return checker.end()
}

async function fetchBackup(stage: Stage): Promise<Uint8Array> {
  return await (await stage.admin.client.getBackup()).bytes()
}

describe("backup, restore", () => {
  const stage = useStage()

  describe("backup", () => defineBackingUp(stage))
  describe("restore", () => defineRestoring(stage))
})

function defineBackingUp(stage: () => Stage): void {
  test("writes a whole backup with mode 0600, and prints it in three formats", async () => {
    const admin = await openAdmin(stage())
    const path = join(admin.folder, "a.backup")
    expect(await admin.hamlet(["backup", "a.backup"])).toEqual({
      exit: 0,
      stdout: "a.backup\n",
      stderr: "",
    })
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const { header, trailer, bytes } = summarise(readFileSync(path))
    expect(trailer.sections.find(({ name }) => name === "users")?.items).toBeGreaterThan(0)
    expect(await admin.json(["backup", "b.backup"])).toMatchObject([
      {
        file: "b.backup",
        bytes: expect.any(Number),
        serverVersion: header.serverVersion,
        missing: 0,
      },
    ])
    expect(bytes).toBe(statSync(path).size)
    await using seen = admin.atTerminal(["backup", "c.backup"])
    expect(Bun.stripANSI((await seen.ended()).stdout)).toMatch(
      /Backed up [\d.]+ \w+ to "c\.backup"\r\n$/,
    )
    expect(readdirSync(admin.folder).sort()).toEqual(["a.backup", "b.backup", "c.backup"])
  })

  test('"-" is standard output, but no terminal', async () => {
    const admin = await openAdmin(stage())
    const env = { ...process.env, HAMLET_CONFIG_DIR: admin.configDir } as Record<string, string>
    const child = Bun.spawn([hamletPath, "backup", "-"], { env, cwd: admin.folder, stdout: "pipe" })
    expect(summarise(await new Response(child.stdout).bytes()).header.format).toBe(1)
    expect(await child.exited).toBe(0)
    await using seen = admin.atTerminal(["backup", "-"])
    expect(await seen.ended()).toMatchObject({
      exit: 2,
      stdout: expect.stringContaining("to a terminal"),
    })
    const full = Bun.spawnSync(["sh", "-c", '"$0" backup - >/dev/full', hamletPath], {
      env,
      cwd: admin.folder,
    })
    expect([full.exitCode, full.stderr.toString()]).toEqual([
      1,
      "Cannot write the output: the disk is full\n",
    ])
    expect(readdirSync(admin.folder)).toEqual([])
  })

  test("refuses to overwrite files without --force", async () => {
    const admin = await openAdmin(stage())
    const path = join(admin.folder, "mine")
    writeFileSync(path, "dear to me")
    mkdirSync(join(admin.folder, "folder"))
    const refused: readonly [args: readonly string[], exit: number, text: string][] = [
      [
        ["backup", "mine"],
        5,
        'Cannot write "mine": the file exists; choose another name, or use "--force" to overwrite it\n',
      ],
      [["backup", "folder"], 2, 'Cannot write "folder": it is not a regular file\n'],
      [["backup", "folder", "--force"], 2, 'Cannot write "folder": it is not a regular file\n'],
      [
        ["backup", "nowhere/x"],
        4,
        'Cannot write "nowhere/x": the folder does not exist; choose another path\n',
      ],
    ]
    for (const [args, exit, stderr] of refused)
      expect(await admin.hamlet(args)).toEqual({ exit, stdout: "", stderr })
    expect(readFileSync(path, "utf8")).toBe("dear to me")
    expect((await admin.hamlet(["backup", "mine", "--force"])).exit).toBe(0)
    expect(summarise(readFileSync(path)).bytes).toBe(statSync(path).size)
    expect(readdirSync(admin.folder).sort()).toEqual(["folder", "mine"])
  })

  test("names a database that cannot be read, and skips it with --skip-damaged", async () => {
    const admin = await openAdmin(stage())
    const { id, username } = await (await stage().person("unlucky")).client.getMe()
    const folder = join(stage().dataDir, "sqlite")
    mkdirSync(folder, { recursive: true })
    const path = join(folder, `${id}.db`)
    writeFileSync(path, "this was a database once".repeat(100))
    try {
      const refused = await admin.hamlet(["backup", "a.backup"])
      expect(refused).toMatchObject({
        exit: 5,
        stdout: "",
        stderr: expect.stringContaining(`the database of user "${username}"`),
      })
      const ended = await admin.hamlet(["backup", "a.backup", "--skip-damaged"])
      expect(ended).toMatchObject({
        exit: 0,
        stdout: "a.backup\n",
        stderr: expect.stringContaining(username ?? ""),
      })
      expect(summarise(readFileSync(join(admin.folder, "a.backup"))).trailer.damaged).toEqual([
        username ?? "",
      ])
      expect(await admin.json(["backup", "b.backup", "--skip-damaged"])).toMatchObject([
        { damaged: [username] },
      ])
    } finally {
      rmSync(path)
    }
  })

  test("backup refuses truncated and modified data", async () => {
    const admin = await openAdmin(stage())
    const whole = await fetchBackup(stage())
    const changed = Uint8Array.from(whole)
    changed[Math.floor(whole.length / 2)] = ~(whole[Math.floor(whole.length / 2)] ?? 0)
    for (const bytes of [whole.subarray(0, -1), changed]) {
      using tap = openTap([{ bytes }])
      const { exit, stdout, stderr } = await admin.hamlet(["backup", "x"], {
        env: { HAMLET_URL: tap.url, HAMLET_TOKEN: "x" },
      })
      expect([bytes.length, exit, stdout, stderr]).toEqual([
        bytes.length,
        1,
        "",
        expect.stringMatching(/^Cannot back up: [^\n]+ (it|its) [^\n]+; try again\n$/),
      ])
    }
    using broken = await openBrokenTap(whole.subarray(0, 100))
    const ended = await admin.hamlet(["backup", "x"], {
      env: { HAMLET_URL: broken.url, HAMLET_TOKEN: "x" },
    })
    expect(ended).toEqual({
      exit: 6,
      stdout: "",
      stderr: expect.stringMatching(
        /^Cannot back up: the connection was lost [^\n]+; try again\n$/,
      ),
    })
    expect(readdirSync(admin.folder)).toEqual([])
  })

  test("leaves no partial file when interrupted at any point", async () => {
    const admin = await openAdmin(stage())
    writeFileSync(join(admin.folder, "x"), "the one before")
    const whole = await fetchBackup(stage())
    for (const [share, signal, exit] of [
      [0, "SIGINT", 130],
      [0.5, "SIGTERM", 143],
      [0.99, "SIGHUP", 129],
    ] as const) {
      using tap = openTap([
        { bytes: whole.subarray(0, Math.floor(whole.length * share)) },
        { waits: true },
      ])
      const options = { env: { HAMLET_URL: tap.url, HAMLET_TOKEN: "x" } }
      await using started = admin.start(["backup", "x", "--force"], options)
      await tap.isDrained
      started.signal(signal)
      expect(await started.ended()).toEqual({ exit, stdout: "", stderr: "" })
    }
    using tap = openTap([{ bytes: whole.subarray(0, -40) }, { waits: true }])
    await using seen = admin.atTerminal(["backup", "y"], {
      env: { HAMLET_URL: tap.url, HAMLET_TOKEN: "x" },
    })
    await seen.waitFor(/Backing up [\d.]+ \w+ {2}█+/)
    seen.type("\x03")
    const { exit, stdout } = await seen.ended()
    // The line is gone: what was written last are spaces over it.
    expect([exit, /\r +\r(\^C)?(\r\n)?$/.test(Bun.stripANSI(stdout))]).toEqual([130, true])
    expect(readdirSync(admin.folder)).toEqual(["x"])
    expect(readFileSync(join(admin.folder, "x"), "utf8")).toBe("the one before")
  })

  test.skipIf(!isRoot)("prints one sentence and leaves no file when the disk is full", async () => {
    const admin = await openAdmin(stage())
    mkdirSync(join(admin.folder, "disk"))
    const env = { ...process.env, HAMLET_CONFIG_DIR: admin.configDir } as Record<string, string>
    // A disk for this program alone: it is gone with it.
    const script =
      'mount -t tmpfs -o size=4k none disk && { "$0" backup disk/x; echo "exit $?"; ls -A disk; }'
    const ended = Bun.spawnSync(["unshare", "-m", "sh", "-c", script, hamletPath], {
      env,
      cwd: admin.folder,
    })
    expect([ended.stdout.toString(), ended.stderr.toString()]).toEqual([
      "exit 1\n",
      'Cannot write "disk/x": the disk is full; choose another path\n',
    ])
  })
}

function defineRestoring(stage: () => Stage): void {
  test("recreates the server, which serve starts and a signal stops", async () => {
    const admin = await openAdmin(stage())
    const ada = await stage().person("restored1")
    await ada.client.createVal({ name: "kept", code: "export default () => 'still here'" })
    await admin.print(["backup", "x"])
    const data = join(admin.folder, "data")
    mkdirSync(data, { mode: 0o700 })
    copyFileSync(join(stage().dataDir, "secret.key"), join(data, "secret.key"))
    const [restored] = await admin.json(["restore", "x", "--data-dir", "data"])
    expect(restored).toMatchObject({
      file: "x",
      sections: { vals: expect.any(Number) },
      notes: expect.any(Array),
    })

    await using served = admin.start(["serve", "--port", "0", "--data-dir", "data"], {
      env: { HAMLET_PROCESSES_READY: "0" },
    })
    const [, url = ""] = await served.waitFor(/listens at (\S+)[\s\S]*docs {2,}\S+\n/)
    const there = { env: { HAMLET_URL: url, HAMLET_TOKEN: ada.token } }
    expect(await ada.print(["val", "show", "kept", "--code"], there)).toBe(
      "export default () => 'still here'",
    )
    served.signal("SIGTERM")
    expect((await served.ended()).exit).toBe(0)
    expect(await fetch(`${url}/healthz`).catch(() => "gone")).toBe("gone")
  })

  test("prints the error of the server program, and leaves the target unchanged", async () => {
    const admin = await openAdmin(stage())
    writeFileSync(join(admin.folder, "cut"), (await fetchBackup(stage())).subarray(0, -10))
    expect(await admin.hamlet(["restore", "cut", "--data-dir", "data"])).toEqual({
      exit: 1,
      stdout: "",
      stderr: expect.stringMatching(/^Cannot restore "cut": [^\n]+\n$/),
    })
    expect((await admin.hamlet(["restore", "nothing"])).exit).toBe(4)
    expect((await admin.hamlet(["restore", "--data-dir", "data", "cut"])).exit).toBe(2)
    expect(existsSync(join(admin.folder, "data", "hamlet.db"))).toBe(false)
  })

  test("forwards signals, and the restore is rolled back", async () => {
    const admin = await openAdmin(stage())
    await admin.print(["backup", "x"])
    const whole = readFileSync(join(admin.folder, "x"))
    // Through a pipe it comes no further than it is written. It is read twice: to check it, and
    // then to load it, when the folder is there.
    const pipe = join(admin.folder, "pipe")
    Bun.spawnSync(["mkfifo", pipe])
    await using started = admin.start(["restore", "pipe", "--data-dir", "data"])
    await writeFile(pipe, whole)
    await until(() => existsSync(join(admin.folder, "data")), "the data folder")
    const loading = await open(pipe, "w")
    await loading.write(whole.subarray(0, whole.length / 2))
    started.signal("SIGINT")
    // The command line does not wait for the server program, which cleans up on its own.
    const { exit, stdout } = await started.ended()
    expect([exit, stdout]).toEqual([130, ""])
    await loading.writeFile(whole.subarray(whole.length / 2)).catch(() => {})
    await loading.close()
    await until(
      () => !existsSync(join(admin.folder, "data", "restore.unfinished")),
      "the end of the clean-up",
    )
    expect(readdirSync(join(admin.folder, "data"))).toEqual([])

    await using seen = admin.atTerminal(["restore", "x", "--data-dir", "data"])
    const { exit: done, stdout: shown } = await seen.ended()
    expect([done, Bun.stripANSI(shown)]).toEqual([
      0,
      expect.stringMatching(/Restored \d+ users? and \d+ vals?, as it was at \S+\r\n$/),
    ])
  })
}
