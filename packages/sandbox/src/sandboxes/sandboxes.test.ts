import { afterAll, describe, expect, test } from "bun:test"
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { dirname, join } from "node:path"
import { notRun, waitUntil } from "@hamlet/kit/testing"
import { hasSlowLane } from "../cpu-priority/slow-lane.ts"
import { readProcessStat } from "./launch/process-identity.ts"
import {
  createDataDir,
  evaluate,
  findGuestPid,
  findRuntimeFolder,
  hasBubblewrap,
  isGrouped,
  isRoot,
  listGroups,
  listOpenFiles,
  listPids,
  openSandboxes,
  readStatus,
  start,
} from "./testing/sandbox-testing.ts"

const levels = (["bubblewrap", "deno"] as const).filter(
  (level) => level === "deno" || hasBubblewrap,
)
if (!hasBubblewrap) notRun("sandboxes in bubblewrap", "bubblewrap is not installed")
const isLinux = process.platform === "linux"
const megabyte = 1024 ** 2

describe.each(levels)("Sandboxes with %s", (isolation) => {
  test("launch returns a warm guest that responds, and stop leaves nothing of it", async () => {
    await using open = await openSandboxes({ isolation })
    const sandbox = await open.sandboxes.launch()
    expect(await evaluate(sandbox, "return 6 * 7")).toBe(42)
    const folder = dirname(dirname(sandbox.socketPath))
    const pids = listPids(folder)
    const groups = listGroups(dirname(folder).split("/").at(-1) ?? "")
    const exit = await sandbox.stop()
    expect(exit).toMatchObject({
      reason: "killed",
      message: "The process ended: it was stopped",
    })
    expect(await sandbox.stop()).toBe(exit)
    expect(pids.filter((pid) => readProcessStat(pid))).toEqual([])
    expect(existsSync(folder)).toBe(false)
    expect(groups.filter((group) => existsSync(join(group, sandbox.id)))).toEqual([])
  })

  test("launch reports the level in force", async () => {
    await using open = await openSandboxes({ isolation })
    expect(open.sandboxes.report.level).toBe(isolation)
    expect(open.sandboxes.report.details.length).toBeGreaterThan(1)
  })

  test("a guest imports only the modules that it was given", async () => {
    await using open = await openSandboxes({ isolation })
    const sandbox = await open.sandboxes.launch()
    const heard: unknown[] = []
    sandbox.onMessage = (message) => heard.push(message)
    await sandbox.addModules([
      {
        url: "http://localhost:8080/v/ada/main@1",
        code: 'import { two } from "./two@1?x=y"\nif (two !== 2) throw new Error("not two")',
      },
      { url: "http://localhost:8080/v/ada/two@1?x=y", code: "export const two: number = 2" },
    ])
    sandbox.send(toLoad("http://localhost:8080/v/ada/main@1"))
    await waitUntil(() => heard.length === 1)
    expect(heard[0]).toEqual({ kind: "loaded", isCallable: true })
    for (const url of [
      "http://localhost:8080/v/ada/other@1",
      "http://example.com/x.ts",
      "file:///etc/passwd",
    ])
      sandbox.send(toLoad(url))
    await waitUntil(() => heard.length === 4)
    expect(heard.slice(1)).toEqual(
      Array.from({ length: 3 }, () => expect.objectContaining({ kind: "load_failed" })),
    )
  })

  test("a guest whose modules cannot be written ends, with an error for clients", async () => {
    await using open = await openSandboxes({ isolation })
    const sandbox = await open.sandboxes.launch()
    const modules = join(dirname(dirname(sandbox.socketPath)), "deno")
    rmSync(modules, { recursive: true })
    writeFileSync(modules, "")
    const module = { url: "http://localhost:8080/v/ada/main@1", code: "export default 1" }
    await expect(sandbox.addModules([module])).rejects.toEqual(
      expect.objectContaining({
        code: "sandbox_unavailable",
        message: "Cannot start a sandbox: its modules cannot be written",
      }),
    )
    expect(await sandbox.exited).toMatchObject({
      message: "The process ended: its modules could not be written",
    })
  })

  test("a guest is given many large modules in slices, and nothing is left when it ends meanwhile", async () => {
    await using open = await openSandboxes({ isolation })
    const sandbox = await open.sandboxes.launch()
    const modules = Array.from({ length: 1_000 }, (_, index) => ({
      url: `http://localhost:8080/v/ada/data${index}@1`,
      code: `"${"x".repeat(25_000)}"`,
      type: "json" as const,
    }))
    const folder = dirname(dirname(sandbox.socketPath))
    let isAdded = false
    const adding = sandbox.addModules(modules).then(() => {
      isAdded = true
    })
    await new Promise(setImmediate)
    expect([isAdded, existsSync(folder)]).toEqual([false, true])
    await sandbox.stop()
    await adding
    expect(existsSync(folder)).toBe(false)
  })

  test("a guest sees only its own environment", async () => {
    await using open = await openSandboxes({ isolation })
    const sandbox = await open.sandboxes.launch()
    const names = (await evaluate(sandbox, "return Object.keys(Deno.env.toObject())")) as string[]
    const allowed = [
      "DENO_DIR",
      "DENO_EMIT_CACHE_MODE",
      "DENO_NO_UPDATE_CHECK",
      "HOME",
      "HTTPS_PROXY",
      "HTTP_PROXY",
      "MALLOC_ARENA_MAX",
      "MALLOC_TOP_PAD_",
      "NO_COLOR",
      "PWD",
    ]
    expect(names.filter((name) => !allowed.includes(name))).toEqual([])
  })

  test("a guest may write to its scratch folder and nowhere else", async () => {
    await using open = await openSandboxes({ isolation })
    const sandbox = await open.sandboxes.launch()
    await evaluate(sandbox, "await Deno.writeTextFile(scratch + '/x', 'y')")
    expect(await evaluate(sandbox, "return await Deno.readTextFile(scratch + '/x')")).toBe("y")
    const codes = [
      "await Deno.writeTextFile(run + '/x', 'y')",
      "await Deno.writeTextFile('/x', 'y')",
      "await Deno.readTextFile('/etc/passwd')",
    ]
    for (const code of codes) await expect(evaluate(sandbox, code)).rejects.toThrow()
    // This write bypasses the permissions of Deno.
    await expect(
      evaluate(sandbox, "await (await caches.open('x')).put('http://x/', new Response('y'))"),
    ).rejects.toThrow()
    await expect(evaluate(sandbox, "localStorage.setItem('x', 'y')")).rejects.toThrow()
  })

  test.if(isLinux)("a guest has no file of the server open", async () => {
    await using open = await openSandboxes({ isolation })
    await open.sandboxes.launch()
    const sandbox = await open.sandboxes.launch()
    const pids = listPids(dirname(dirname(sandbox.socketPath)))
    const files = () => pids.flatMap(listOpenFiles).map((file) => file.replace(/:\[\d+\]$/, ""))
    const allowed = [
      "/dev/null",
      "anon_inode:[eventpoll]",
      "anon_inode:[eventfd]",
      "anon_inode:[signalfd]",
      "anon_inode:[io_uring]",
      // The compiled code of the guest, which it can only read.
      ...["", "-wal", "-shm"].map((end) => `/deno-dir/v8_code_cache_v2${end}`),
    ]
    const others = () =>
      files().filter((file) => !allowed.includes(file) && !["socket", "pipe", "net"].includes(file))
    // A guest that is warm may still be closing what it has read.
    await waitUntil(() => others().length === 0, { seen: others })
    // Deno's own socket pair for signals, the control socket and the socket it listens on.
    expect(files().filter((file) => file === "socket").length).toBeLessThanOrEqual(5)
  })

  test.if(isRoot && isLinux)(
    "each sandbox of a root server has an unprivileged user of its own",
    async () => {
      await using open = await openSandboxes({ isolation })
      const pids = [
        findGuestPid(await open.sandboxes.launch()),
        findGuestPid(await open.sandboxes.launch()),
      ]
      const users = pids.map((pid) => readStatus(pid, "Uid"))
      expect(new Set(users).size).toBe(2)
      for (const pid of pids) {
        expect(Number.parseInt(readStatus(pid, "Uid"), 10)).toBeGreaterThanOrEqual(30_000)
        expect(readStatus(pid, "Groups")).toBe("")
        expect(
          ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"].map((name) =>
            Number(`0x${readStatus(pid, name)}`),
          ),
        ).toEqual([0, 0, 0, 0, 0])
        expect(readStatus(pid, "NoNewPrivs")).toBe("1")
      }
    },
  )

  test.if(isRoot && isLinux)("other users cannot enter the folder of a sandbox", async () => {
    await using open = await openSandboxes({ isolation })
    const sandbox = await open.sandboxes.launch()
    const run = statSync(dirname(sandbox.socketPath))
    const folder = statSync(dirname(dirname(sandbox.socketPath)))
    expect([run.mode & 0o777, run.uid]).toEqual([0o750, 0])
    expect([folder.mode & 0o777, folder.uid]).toEqual([0o710, 0])
    expect(folder.gid).toBe(Number.parseInt(readStatus(findGuestPid(sandbox), "Gid"), 10))
  })

  test.if(isLinux)("limits on files, time and core dumps are set", async () => {
    await using open = await openSandboxes({ isolation })
    const text = readFileSync(`/proc/${findGuestPid(await open.sandboxes.launch())}/limits`, "utf8")
    const limits = Object.fromEntries(
      [...text.matchAll(/^(Max .+?) {2,}\S+ +(\S+)/gm)].map(([, name, hard]) => [name, hard]),
    )
    expect(limits).toMatchObject({
      "Max open files": "4096",
      "Max file size": String(64 * megabyte),
      "Max cpu time": "3600",
      "Max core file size": "0",
      ...(isRoot ? { "Max processes": "72" } : {}),
    })
  })
})

describe.each(levels)("A sandbox with %s ends at its limit", (isolation) => {
  test("of memory outside of the heap", async () => {
    await using open = await openSandboxes({ isolation })
    const sandbox = await open.sandboxes.launch()
    start(sandbox, "const all = []; for (;;) all.push(new Uint8Array(10_000_000).fill(1))")
    const exit = await sandbox.exited
    expect(exit).toMatchObject({
      reason: "memory",
      message: expect.stringContaining("limit of 256 MB of memory"),
    })
  })

  test.if(isolation === "bubblewrap")(
    "a guest that creates too many empty folders is ended without a control group",
    async () => {
      await using open = await openSandboxes({
        isolation,
        limits: { scratchEntriesMax: 1_000, watchMs: 10 },
        usesCgroups: false,
      })
      const sandbox = await open.sandboxes.launch()
      start(
        sandbox,
        "for (let number = 0; number < 2_000; number++) await Deno.mkdir('d' + number); await new Promise(() => {})",
      )
      expect(await sandbox.exited).toMatchObject({
        reason: "files",
        message: expect.stringContaining("1000 files and folders"),
      })
    },
  )

  test("of memory outside of the heap, found by the watchdog", async () => {
    await using open = await openSandboxes({
      isolation,
      limits: { memoryBytesMax: 128 * megabyte },
      usesCgroups: false,
    })
    const sandbox = await open.sandboxes.launch()
    start(
      sandbox,
      "const all = []; for (;;) { all.push(new Uint8Array(1_000_000).fill(1)); await new Promise(r => setTimeout(r, 1)) }",
    )
    expect(await sandbox.exited).toMatchObject({
      reason: "memory",
      message: expect.stringContaining("limit of 128 MB of memory"),
    })
  })

  test("of the heap", async () => {
    await using open = await openSandboxes({ isolation, limits: { heapBytesMax: 32 * megabyte } })
    const sandbox = await open.sandboxes.launch()
    start(sandbox, "const all = []; for (;;) all.push({ a: [1, 2, 3], b: {} })")
    expect(await sandbox.exited).toMatchObject({
      reason: "memory",
      message: expect.stringContaining("heap reached the limit of 32 MB"),
    })
  })

  test("of nesting in the parser, which it tells apart from a full heap", async () => {
    await using open = await openSandboxes({ isolation })
    const sandbox = await open.sandboxes.launch()
    const url = "http://localhost:8080/v/ada/deep@1"
    await sandbox.addModules([
      { url, code: `export default ${"[".repeat(100_000)}${"]".repeat(100_000)}` },
    ])
    sandbox.send(toLoad(url))
    const isMeasured = isGrouped(open.sandboxes, "memory")
    if (isMeasured)
      expect(await sandbox.exited).toMatchObject({
        reason: "exited",
        message: expect.stringContaining("it crashed"),
      })
  })

  test("of threads, with an error of its own", async () => {
    await using open = await openSandboxes({
      isolation,
      limits: { threadsMax: 20, memoryBytesMax: 2048 * megabyte },
    })
    const sandbox = await open.sandboxes.launch()
    const code = `
      const all = []
      try {
        for (;;) all.push(new Worker("data:application/javascript,setInterval(() => {}, 1000)", { type: "module" }))
      } catch (error) {
        return [all.length < 20, error.message]
      }`
    if (isGrouped(open.sandboxes, "processes")) {
      expect(await evaluate(sandbox, code)).toEqual([
        true,
        expect.stringContaining("Resource temporarily unavailable"),
      ])
      start(sandbox, "Deno.exit(3)")
    } else start(sandbox, code)
    expect(await sandbox.exited).toMatchObject({
      reason: "processes",
      message: expect.stringContaining("20 threads"),
    })
  })

  test("of CPU time, even without a supervisor", async () => {
    await using open = await openSandboxes({ isolation, limits: { cpuSecondsMax: 1 } })
    const sandbox = await open.sandboxes.launch()
    start(sandbox, "for (;;);")
    expect(await sandbox.exited).toMatchObject({ reason: "cpu" })
  })

  test("of the size of a file", async () => {
    await using open = await openSandboxes({ isolation, limits: { fileBytesMax: megabyte } })
    const sandbox = await open.sandboxes.launch()
    const code = "await Deno.writeFile(scratch + '/x', new Uint8Array(2_000_000))"
    if (isolation === "bubblewrap") {
      // Process 1 of a pid namespace does not get the signal, and Deno gets the error.
      await expect(evaluate(sandbox, code)).rejects.toThrow("File too large")
    } else {
      start(sandbox, code)
      expect(await sandbox.exited).toMatchObject({
        reason: "files",
        message: expect.stringContaining("limit of 1 MB to a file"),
      })
    }
  })

  test("of open files, with an error of its own", async () => {
    await using open = await openSandboxes({ isolation, limits: { openFilesMax: 64 } })
    const sandbox = await open.sandboxes.launch()
    const code =
      "const all = []; try { for (;;) all.push(await Deno.open(scratch + '/x', { create: true, write: true })) } catch (e) { for (const f of all) f.close(); return [all.length < 64, e.message] }"
    expect(await evaluate(sandbox, code)).toEqual([
      true,
      expect.stringContaining("Too many open files"),
    ])
    expect(await evaluate(sandbox, "return 1")).toBe(1)
  })
})

test("A sandbox without bubblewrap ends when its scratch folder is full", async () => {
  await using open = await openSandboxes({
    isolation: "deno",
    limits: { scratchBytesMax: megabyte, watchMs: 10 },
  })
  const sandbox = await open.sandboxes.launch()
  await evaluate(
    sandbox,
    "await Deno.mkdir(scratch + '/a'); for (let i = 0; i < 4; i++) await Deno.writeFile(scratch + '/a/' + i, new Uint8Array(500_000))",
  )
  expect(await sandbox.exited).toMatchObject({
    reason: "files",
    message: expect.stringContaining("more than the limit of 1048576 bytes"),
  })
})

describe.if(hasBubblewrap)("A sandbox in bubblewrap", () => {
  test("has a scratch folder of limited size", async () => {
    await using open = await openSandboxes({
      isolation: "bubblewrap",
      limits: { scratchBytesMax: 4 * megabyte },
    })
    const sandbox = await open.sandboxes.launch()
    const fill =
      "for (let i = 0; ; i++) await Deno.writeFile(scratch + '/' + i, new Uint8Array(1_000_000))"
    await expect(evaluate(sandbox, fill)).rejects.toThrow("No space left")
    await sandbox.stop()
  })

  test("has namespaces of its own, and no network", async () => {
    await using open = await openSandboxes({ isolation: "bubblewrap" })
    const pid = findGuestPid(await open.sandboxes.launch())
    const toNames = (id: number | "self") =>
      ["cgroup", "ipc", "mnt", "net", "pid", "uts"].map(
        (name) => statSync(`/proc/${id}/ns/${name}`).ino,
      )
    const own = toNames("self")
    expect(toNames(pid).filter((inode) => own.includes(inode))).toEqual([])
    const devices = readFileSync(`/proc/${pid}/net/dev`, "utf8")
      .split("\n")
      .slice(2)
      .filter(Boolean)
    expect(devices.map((line) => line.trim().split(":")[0])).toEqual(["lo"])
    expect(
      readFileSync(`/proc/${pid}/net/route`, "utf8").split("\n").slice(1).filter(Boolean),
    ).toEqual([])
  })

  test("sees only what it needs in its file system, and can write only to its three folders", async () => {
    await using open = await openSandboxes({ isolation: "bubblewrap" })
    const pid = findGuestPid(await open.sandboxes.launch())
    expect(
      readdirSync(`/proc/${pid}/root`)
        .filter((name) => !/^lib(64)?$|^usr$/.test(name))
        .sort(),
    ).toEqual([
      "deno",
      "deno-dir",
      "dev",
      "emits",
      "etc",
      "guest-script.js",
      "guest.js",
      "proc",
      "run",
      "tmp",
    ])
    expect(readdirSync(`/proc/${pid}/root/etc`)).toEqual(["passwd"])
    expect(readdirSync(`/proc/${pid}/root/proc`).sort()).toEqual(["cpuinfo", "self", "stat"])
    const mounts = readFileSync(`/proc/${pid}/mounts`, "utf8")
      .trim()
      .split("\n")
      .map((line) => line.split(" "))
    const writable = mounts
      .filter(([, , , options = ""]) => options.split(",").includes("rw"))
      .map(([, path]) => path)
    expect(writable.filter((path) => !path?.startsWith("/dev/")).sort()).toEqual([
      "/emits",
      "/run/val",
      "/tmp",
    ])
    expect(readdirSync(`/proc/${pid}/root/dev`).sort()).toEqual([
      "null",
      "random",
      "urandom",
      "zero",
    ])
  })

  test("ends with its server's outer process", async () => {
    await using open = await openSandboxes({ isolation: "bubblewrap" })
    const sandbox = await open.sandboxes.launch()
    const [outer = 0, inner = 0] = listPids(dirname(dirname(sandbox.socketPath)))
    process.kill(outer, "SIGKILL")
    expect((await sandbox.exited).reason).toBe("killed")
    expect(readProcessStat(inner)).toBeUndefined()
  })
})

describe("The control socket", () => {
  const cases = [
    ["something that is not a message", "await write('hello\\n')", "invalid control message"],
    ["a message that the protocol does not have", "await say({ kind: 'hack' })", "invalid"],
    [
      "an endless line",
      "for (;;) await write('x'.repeat(60_000))",
      "control message of more than 100000 bytes",
    ],
  ] as const
  test.each(cases)("ends the sandbox of a guest that writes %s", async (_, code, message) => {
    await using open = await openSandboxes({ limits: { controlLineBytesMax: 100_000 } })
    const sandbox = await open.sandboxes.launch()
    start(sandbox, code)
    expect(await sandbox.exited).toMatchObject({
      reason: "protocol",
      message: expect.stringContaining(message),
    })
  })

  test("is removed once the guest has connected", async () => {
    await using open = await openSandboxes({})
    const sandbox = await open.sandboxes.launch()
    expect(readdirSync(dirname(sandbox.socketPath))).toEqual(["in.sock"])
  })

  test("delivers messages in order, however they are split, up to the size limit", async () => {
    await using open = await openSandboxes({})
    const sandbox = await open.sandboxes.launch()
    const heard: string[] = []
    sandbox.onMessage = (message, bytes) =>
      heard.push(
        message.kind === "log" ? `${message.run} ${message.message.length} ${bytes > 0}` : "",
      )
    const code = `
      const toLine = (run, length) => JSON.stringify({ kind: "log", run, at: 1, level: "log", message: "ü".repeat(length) }) + "\\n"
      const text = toLine("a", 3) + toLine("b", 100_000) + toLine("c", 1)
      for (let at = 0; at < text.length; at += 7919) await write(text.slice(at, at + 7919))`
    await evaluate(sandbox, code)
    await waitUntil(() => heard.length === 3)
    expect(heard).toEqual(["a 3 true", "b 100000 true", "c 1 true"])
  })

  test("delivers every message before the sandbox counts as ended", async () => {
    await using open = await openSandboxes({})
    const sandbox = await open.sandboxes.launch()
    let heard = 0
    sandbox.onMessage = () => {
      heard++
    }
    start(sandbox, 'await write(\'{"kind":"pong"}\\n\'.repeat(5000)); Deno.exit(7)')
    expect(await sandbox.exited).toMatchObject({
      reason: "exited",
      code: 7,
      message: "The process ended: it exited with code 7",
    })
    expect(heard).toBe(5000)
  })

  const floods = [
    { name: "more messages", limits: { controlMessagesPerSecondMax: 200 }, length: 1 },
    { name: "more bytes", limits: { controlBytesPerSecondMax: 200_000 }, length: 1_000 },
  ]
  test.each(floods)(
    "delays a guest that sends $name than allowed, and loses no message",
    async ({ limits, length }) => {
      await using open = await openSandboxes({ limits })
      const sandbox = await open.sandboxes.launch()
      const heard: number[] = []
      let atOnce = 0
      let mostAtOnce = 0
      sandbox.onMessage = (message) => {
        if (message.kind !== "log") return
        heard.push(Number(message.run))
        if (atOnce++ === 0)
          setImmediate(() => {
            mostAtOnce = Math.max(mostAtOnce, atOnce)
            atOnce = 0
          })
      }
      const code = `
      let text = ""
      for (let run = 0; run < 600; run++) text += JSON.stringify({ kind: "log", run: String(run), at: 1, level: "log", message: "x".repeat(${length}) }) + "\\n"
      await write(text)`
      await evaluate(sandbox, code)
      await waitUntil(() => heard.length === 600)
      expect(heard).toEqual(Array.from({ length: 600 }, (_, run) => run))
      // The server hears as many messages at once as the limit of a second allows, not all.
      expect(mostAtOnce).toBeLessThanOrEqual(250)
    },
  )

  test("survives an error of its listener", async () => {
    const open = await openSandboxes({})
    const sandbox = await open.sandboxes.launch()
    sandbox.onMessage = () => {
      throw new Error("listener")
    }
    sandbox.send({ kind: "ping" })
    await waitUntil(() => open.errors.length === 1)
    open.errors.splice(0)
    expect(await evaluate(sandbox, "return 1")).toBe(1)
    await open[Symbol.asyncDispose]()
  })
})

describe("Sandboxes", () => {
  test("readCpuMs and readMemoryBytes measure a process, and setPriority sets its weight", async () => {
    await using open = await openSandboxes({})
    const sandbox = await open.sandboxes.launch()
    const read = () => [sandbox.readCpuMs(), sandbox.readMemoryBytes()] as const
    const before = read()
    sandbox.setPriority("low")
    const hasShares = isGrouped(open.sandboxes, "CPU share")
    if (hasShares)
      expect(
        listGroups(sandboxFolderName(sandbox)).map((path) => readShares(join(path, sandbox.id))),
      ).toContain("51")
    await evaluate(
      sandbox,
      "globalThis.kept = new Uint8Array(50_000_000).fill(1); const end = Date.now() + 100; while (Date.now() < end);",
    )
    sandbox.setPriority("normal")
    const after = read()
    expect(after[0]).toBeGreaterThan(before[0] ?? 0)
    expect(after[1]).toBeGreaterThan((before[1] ?? 0) + 40_000_000)
    await sandbox.stop()
    expect(read()).toEqual([undefined, undefined])
    sandbox.setPriority("low")
    sandbox.send({ kind: "ping" })
    await sandbox.addModules([{ url: "http://localhost:8080/x", code: "" }])
  })

  test.if(isLinux)("setPriority reaches every thread without control groups", async () => {
    await using open = await openSandboxes({ usesCgroups: false })
    const sandbox = await open.sandboxes.launch()
    const folder = `/proc/${findGuestPid(sandbox)}/task`
    const readNices = () =>
      readdirSync(folder)
        .map((id) => readQuietly(`${folder}/${id}/stat`))
        .filter((stat) => stat !== "")
        .map((stat) => Number(stat.split(") ")[1]?.split(" ")[16]))
    sandbox.setPriority("low")
    expect(new Set(readNices())).toEqual(new Set([isRoot || !hasSlowLane ? 19 : 0]))
    sandbox.setPriority("normal")
    if (isRoot) expect(new Set(readNices())).toEqual(new Set([0]))
    expect(sandbox.readMemoryBytes()).toBeGreaterThan(megabyte)
  })

  // Without a control group, the process inside of bubblewrap is known only once it was reported.
  for (const usesCgroups of [true, false])
    test.if(hasSlowLane)(
      `a sandbox uses half of the cores while no run waits for it, or at low priority (control groups: ${usesCgroups})`,
      async () => {
        await using open = await openSandboxes({ usesCgroups })
        const all = readCores(process.pid)
        await open.sandboxes.launch()
        const inner = () => listChildren(process.pid).flatMap(listChildren)
        const launched = () => [...listChildren(process.pid), ...inner()]
        const isSlow = (pid: number) => readCores(pid).length === all.length >> 1
        const { launching } = await waitUntil(async () => {
          const launching = open.sandboxes.launch(false)
          let isWarm = false
          void launching.then(() => {
            isWarm = true
          })
          // On a busy machine it may be warm before it is looked at: then another one is started.
          await waitUntil(() => isWarm || (hasBubblewrap ? inner() : launched()).some(isSlow))
          return isWarm ? undefined : { launching }
        })
        open.sandboxes.hurry()
        const hasGroups = open.sandboxes.report.details.some((it) => it.includes("by cgroup"))
        if (hasGroups) expect(launched().filter(isSlow)).toEqual([])
        const sandbox = await launching
        const threads = () => readdirSync(`/proc/${findGuestPid(sandbox)}/task`).map(Number)
        const coreCounts = () =>
          new Set(
            threads()
              .map((thread) => readCores(thread).length)
              .filter((count) => count > 0),
          )
        expect(coreCounts()).toEqual(new Set([all.length]))
        for (const [priority, cores] of [
          ["low", all.length >> 1],
          ["normal", all.length],
          ["patient", all.length >> 1],
        ] as const) {
          sandbox.setPriority(priority)
          expect(coreCounts()).toEqual(new Set([cores]))
        }
      },
    )

  test.if(hasSlowLane)(
    "a sandbox that no run waits for may use all cores when it is warm",
    async () => {
      await using open = await openSandboxes({})
      await open.sandboxes.launch()
      expect(readCores(findGuestPid(await open.sandboxes.launch(false)))).toEqual(
        readCores(process.pid),
      )
    },
  )

  test("stop ends sandboxes that are still starting, and launch fails", async () => {
    const open = await openSandboxes({})
    await open.sandboxes.launch()
    const launches = Array.from({ length: 4 }, () =>
      open.sandboxes.launch().catch((error: Error) => error.message),
    )
    await open[Symbol.asyncDispose]()
    for (const outcome of await Promise.all(launches))
      expect(outcome).toContain("Cannot start a sandbox")
    await expect(open.sandboxes.launch()).rejects.toThrow("the server is stopping")
  })

  test("launch fails when the guest does not become warm, and leaves nothing behind", async () => {
    const dataDir = createDataDir()
    const guestPath = join(dataDir, "guest.ts")
    await Bun.write(guestPath, "setInterval(() => {}, 1000)")
    await expect(
      openSandboxes({ dataDir, guestPath, isolation: "deno", limits: { startMsMax: 300 } }),
    ).rejects.toThrow("not ready after 300 ms")
    await Bun.write(guestPath, "throw new Error('broken guest')")
    await expect(openSandboxes({ dataDir, guestPath })).rejects.toThrow("broken guest")
    expect(existsSync(findRuntimeFolder(dataDir))).toBe(false)
    rmSync(dataDir, { recursive: true })
  })

  test("create does not use a runtime folder that is a link", async () => {
    const dataDir = createDataDir()
    const target = join(dataDir, "target")
    mkdirSync(target)
    symlinkSync(target, findRuntimeFolder(dataDir))
    {
      await using opened = await openSandboxes({ dataDir })
      expect((await opened.sandboxes.launch()).socketPath).not.toStartWith(
        findRuntimeFolder(dataDir),
      )
    }
    expect(readdirSync(target)).toEqual([])
    rmSync(findRuntimeFolder(dataDir))
    rmSync(dataDir, { recursive: true })
  })

  test("a guest that is killed at any moment ends its own sandbox only", async () => {
    await using open = await openSandboxes({})
    const bystander = await open.sandboxes.launch()
    for (let round = 0; round < 5; round++) {
      const sandbox = await open.sandboxes.launch()
      start(sandbox, "for (;;);")
      process.kill(findGuestPid(sandbox), "SIGKILL")
      expect((await sandbox.exited).reason).toBe("killed")
    }
    expect(await evaluate(bystander, "return 1")).toBe(1)
  })
})

afterAll(async () => {
  // The last groups are removed when the kernel has reaped their processes.
  await waitUntil(() => listGroups(`-${process.pid}-`).length === 0)
})

function sandboxFolderName(sandbox: { readonly socketPath: string }): string {
  return sandbox.socketPath.split("/").at(-4) ?? ""
}

/** Undefined where the group has no CPU controller. */
function readShares(folder: string): string | undefined {
  const path = ["cpu.shares", "cpu.weight"].map((name) => join(folder, name)).find(existsSync)
  return path && readFileSync(path, "utf8").trim()
}

/** The numbers of the cores that a process or a thread may use; none when it has ended. */
function readCores(id: number): number[] {
  const text = /^Cpus_allowed_list:\s*(.*)$/m.exec(readQuietly(`/proc/${id}/status`))?.[1]
  return (text?.split(",") ?? []).flatMap((range) => {
    const [first = 0, last = first] = range.split("-").map(Number)
    return Array.from({ length: last - first + 1 }, (_, index) => first + index)
  })
}

function listChildren(pid: number): number[] {
  const folder = `/proc/${pid}/task`
  const threads = existsSync(folder) ? readdirSync(folder) : []
  return threads.flatMap((thread) =>
    readQuietly(`${folder}/${thread}/children`).split(" ").filter(Boolean).map(Number),
  )
}

/** Empty for a process or a thread that has just ended. */
function readQuietly(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}

function toLoad(url: string) {
  const limits = { logBytesMax: 1000, returnBytesMax: 1000 }
  return {
    kind: "load",
    url,
    label: "ada/x",
    runId: "r",
    scheme: "http",
    endpoint: "http://x/",
    isHttp: true,
    limits,
  } as const
}
