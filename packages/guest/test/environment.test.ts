import { afterEach, describe, expect, test } from "bun:test"
import { startVal, stopVals, toCases, useVal } from "./support/vals.ts"

afterEach(stopVals)

const imports = `import process, { env as named } from "node:process"\n`
const env = { API_KEY: "secret ✓", HAMLET_URL: "http://localhost:8080" }

describe("setEnvironment", () => {
  /** What the process adds to the variables of the val. */
  const added = { HOME: expect.any(String), PATH: "/usr/bin:/bin", TMPDIR: expect.any(String) }

  test("shows the val its own variables only, whichever API it uses", async () => {
    const code = `${imports}export default () => ({
      get: [Deno.env.get("API_KEY"), Deno.env.get("HOST_ONLY"), Deno.env.get("DENO_DIR")], has: [Deno.env.has("API_KEY"), Deno.env.has("toString")],
      all: Deno.env.toObject(), node: [process.env.API_KEY, process.env.HOST_ONLY, "API_KEY" in process.env, Object.keys(process.env).sort()],
      named: [named.API_KEY, named.HOST_ONLY, Object.keys(named).sort()], spread: { ...process.env },
    })`
    const guest = await startVal(code, { isHttp: false, env })
    const names = ["API_KEY", "HAMLET_URL", "HOME", "PATH", "TMPDIR"]
    expect((await guest.call()).value).toEqual({
      get: [env.API_KEY, null, null],
      has: [true, false],
      all: { ...added, ...env },
      node: [env.API_KEY, null, true, names],
      named: [env.API_KEY, null, names],
      spread: { ...added, ...env },
    })
  })

  test("lets the owner's variables replace HOME and TMPDIR", async () => {
    const own = { HOME: "/mine", TMPDIR: "/my-tmp" }
    const guest = await startVal(
      `import os from "node:os"; export default () => [process.env.HOME, os.tmpdir()]`,
      { isHttp: false, env: own },
    )
    expect((await guest.call()).value).toEqual(["/mine", "/my-tmp"])
  })

  test.each([
    [`Deno.env.set("A", "b")`, "b"],
    [`Deno.env.delete("API_KEY")`, undefined],
    [`process.env.A = "b"`, "b"],
    [`delete process.env.API_KEY`, undefined],
    [`Object.assign(process.env, { A: "b" })`, "b"],
    [`named.A = "b"`, "b"],
    [`new Function("env", "env.A = 'b'")(process.env)`, "b"],
    [`process.env.A = 1 as unknown as string`, "1"],
    [`process.env.A = undefined`, "undefined"],
  ])("lets the val change a variable for the process: %s", async (code, expected) => {
    const guest = await startVal(
      `${imports}export default (changes: boolean) => {
        if (changes) { ${code} }
        const name = "${expected === undefined ? "API_KEY" : "A"}"
        return [Deno.env.get(name), process.env[name], named[name], Deno.env.has(name), name in process.env,
          Object.keys(process.env).includes(name), Deno.env.toObject()[name]].map(String)
      }`,
      { isHttp: false, env },
    )
    const isSet = String(expected !== undefined)
    const text = String(expected)
    const seen = [text, text, text, isSet, isSet, isSet, text]
    expect((await guest.call([true])).value).toEqual(seen)
    // Another run sees the same.
    expect((await guest.call([false])).value).toEqual(seen)
  })

  test("refuses names that no system accepts, as Deno does", async () => {
    const guest = await startVal(`export default () => Deno.env.set("A=B", "c")`, { isHttp: false })
    expect(await guest.callError()).toMatchObject({ name: "TypeError" })
  })

  test("keeps the val's proxy from Deno, which has its own", async () => {
    const guest = await startVal(
      `export default () => { process.env.HTTP_PROXY = "http://mine"; return process.env.HTTP_PROXY }`,
      { isHttp: false },
    )
    expect((await guest.call()).value).toBe("http://mine")
  })

  test("shows a worker the same", async () => {
    const code = `export default () => new Promise((resolve) => {
      Deno.env.delete("GONE")
      const worker = new Worker("data:text/javascript,postMessage(Deno.env.toObject())", { type: "module" })
      worker.onmessage = ({ data }) => { worker.terminate(); resolve(data) }
    })`
    const guest = await startVal(code, { isHttp: false, env })
    expect((await guest.call()).value).toEqual({ ...added, ...env })
  })

  test("accepts names that the operating system refuses", async () => {
    const guest = await startVal(`export default () => Deno.env.toObject()`, {
      isHttp: false,
      env: { "A=B": "1", "": "2", C: "nul\0" },
    })
    expect((await guest.call()).value).toEqual({ ...added, "A=B": "1", "": "2", C: "nul\0" })
  })
})

describe("hidePaths", () => {
  test("makes the scratch folder the working directory", async () => {
    const guest = await startVal(
      `export default () => { Deno.writeTextFileSync("x", "kept"); return Deno.readTextFileSync("./x") }`,
      {
        isHttp: false,
      },
    )
    expect(await guest.call()).toMatchObject({ value: "kept" })
  })

  test("hides all paths of the host", async () => {
    const code = `${imports}export default () => {
      const attempt = (read: () => unknown) => { try { return read() } catch (error) { return String(error) } }
      return [attempt(() => Deno.args), attempt(() => Deno.mainModule), process.argv, process.execPath, process.title, attempt(() => Deno.execPath()),
        import.meta.url, import.meta.filename, Deno.inspect(import.meta)]
    }`
    const guest = await startVal(code, { isHttp: false })
    const text = JSON.stringify((await guest.call()).value)
    expect(text).not.toContain(guest.folder)
    expect(text).not.toContain("node_modules")
    expect(text).not.toContain(process.cwd())
  })
})

describe("the permissions that are left", () => {
  const hidden = [
    "NotFound",
    /^Cannot read ".+": no such file or directory; a val has only/,
  ] as const
  const elsewhere = ["NotCapable", /^Cannot connect to ".+": vals have Unix sockets in/] as const
  const refused: readonly (readonly [
    title: string,
    code: string,
    name: string,
    message: RegExp,
  ])[] = [
    [
      "to open a connection",
      `await Deno.connect({ hostname: "127.0.0.1", port: 80 })`,
      "NotCapable",
      /^Cannot open a socket: .+ bubblewrap$/,
    ],
    [
      "to listen",
      `Deno.listen({ port: 0 })`,
      "NotCapable",
      /^Cannot listen on port 0: a val has no ports of its own; .+ Deno.serve$/,
    ],
    [
      "to open the control socket again",
      `await Deno.connect({ transport: "unix", path: folder + "/sockets/control.sock" })`,
      ...elsewhere,
    ],
    [
      "to open its own socket",
      `await Deno.connect({ transport: "unix", path: folder + "/sockets/in.sock" })`,
      ...elsewhere,
    ],
    ["to read the folder of the sockets", `[...Deno.readDirSync(folder + "/sockets")]`, ...hidden],
    [
      "to remove a socket",
      `Deno.removeSync(folder + "/sockets/in.sock")`,
      "NotCapable",
      /^Cannot write to ".+": a val can write only to .+; std\/blob and std\/sqlite keep data$/,
    ],
    ["to read elsewhere", `Deno.readTextFileSync("/etc/passwd")`, ...hidden],
    [
      "to read elsewhere with node:fs",
      `(await import("node:fs")).readFileSync("/etc/passwd")`,
      ...hidden,
    ],
    [
      "to write elsewhere",
      `await Deno.writeTextFile("/etc/x", "")`,
      "NotCapable",
      /^Cannot write to "\/etc\/x": a val can write only to/,
    ],
    [
      "to create a link",
      `Deno.symlinkSync("/etc", "x")`,
      "NotCapable",
      /^Cannot create a link: a val can create only files and folders$/,
    ],
    [
      "to run a program",
      `new Deno.Command("/bin/ls").outputSync()`,
      "NotCapable",
      /^Cannot start "\/bin\/ls": a val cannot start programs or send signals; use a package, or a service through fetch$/,
    ],
    [
      "to run a program that is not there",
      `await new Deno.Command("no-such-program").output()`,
      "NotFound",
      /^Cannot start "no-such-program": a val cannot start programs/,
    ],
    [
      "to spawn a program that is not there",
      `await new Promise((_, reject) => import("node:child_process").then(({ spawn }) => spawn("no-such-program").on("error", reject)))`,
      "Error",
      /^Cannot start "no-such-program": a val cannot start programs/,
    ],
    [
      "to spawn a program and not to wait for it",
      `await new Promise((_, reject) => import("node:child_process").then(({ spawn }) => { const child = spawn("no-such-program").on("error", reject); child.unref(); child.ref() }).catch(reject))`,
      "Error",
      /^Cannot start "no-such-program": a val cannot start programs/,
    ],
    [
      "to run a line of shell and wait for it",
      `(await import("node:child_process")).execSync("echo hi")`,
      "Error",
      /^Cannot start "echo hi": a val cannot start programs/,
    ],
    [
      "to run a program with node:child_process",
      `await new Promise((_, reject) => import("node:child_process").then(({ exec }) => exec("ls", (error) => reject(error))).catch(reject))`,
      "NotCapable",
      /^Cannot start "\/bin\/sh": a val cannot start programs/,
    ],
    [
      "to send a signal",
      `Deno.kill(1, "SIGTERM")`,
      "NotCapable",
      /^Cannot start or control a program: a val cannot start programs or send signals;/,
    ],
    [
      "to load a library",
      `Deno.dlopen("libc.so.6", {})`,
      "NotCapable",
      /^Cannot load the library "libc.so.6": a val cannot load native code; use a package/,
    ],
    [
      "to look up DNS records",
      `await Deno.resolveDns("example.com", "MX")`,
      "NotCapable",
      /^Cannot open a socket: this server isolates vals with Deno.s permissions only/,
    ],
    [
      "to change the machine",
      `Deno.umask(0)`,
      "NotCapable",
      /^Cannot use "umask": a val cannot see or change the machine that it runs on$/,
    ],
    [
      "to ask for more",
      `if ((await Deno.permissions.request({ name: "net" })).state !== "granted") throw new Deno.errors.NotCapable("no")`,
      "NotCapable",
      /^no$/,
    ],
  ]
  const bodies = refused.map(([, code]) => code)
  const getRefused = useVal(toCases("folder: string", bodies), { isHttp: false })
  test.each(refused.map((row, index) => [...row, index] as const))(
    "do not allow %s",
    async (_title, _code, name, message, index) => {
      const guest = getRefused()
      const error = await guest.callError([index, guest.folder])
      expect(error).toMatchObject({ name, message: expect.stringMatching(message) })
      expect(JSON.stringify(error)).not.toContain("--allow")
    },
  )

  test("explain themselves to the val's own code", async () => {
    const code = `export default () => { try { Deno.umask(0) } catch (error) {
      return [error.message, error.stack.includes("--allow"), error instanceof Deno.errors.NotCapable, error instanceof Error] } }`
    const guest = await startVal(code, { isHttp: false })
    expect((await guest.call()).value).toEqual([
      'Cannot use "umask": a val cannot see or change the machine that it runs on',
      false,
      true,
      true,
    ])
  })

  test("explain themselves in the log of a worker too", async () => {
    const code = `export default () => new Promise((_, reject) => {
      const worker = new Worker("data:text/javascript,Deno.umask(0)", { type: "module" })
      worker.onerror = (event) => { event.preventDefault(); worker.terminate(); reject(new Error(event.message)) }
    })`
    const guest = await startVal(code, { isHttp: false })
    expect((await guest.callError()).message).not.toContain("--allow")
  })

  test("hide files elsewhere from code that asks whether they exist", async () => {
    const code = `import fs, { existsSync, statSync } from "node:fs"
    export default async () => [
      fs.existsSync("/etc/passwd"), existsSync("/etc/passwd"), existsSync("."), statSync("/etc/passwd", { throwIfNoEntry: false }) ?? "none",
      await fs.promises.access("/etc/passwd").catch((error) => error.code), await Deno.stat("/etc/passwd").catch((error) => [error.name, error.code, error instanceof Deno.errors.NotFound]),
      await new Promise((done) => fs.stat("/etc/passwd", (error) => done(error.code))),
    ]`
    const guest = await startVal(code, { isHttp: false })
    expect((await guest.call()).value).toEqual([
      false,
      false,
      true,
      "none",
      "ENOENT",
      ["NotFound", "ENOENT", true],
      "ENOENT",
    ])
  })

  test.each([
    ["fetch", `await fetch("http://127.0.0.1:8080/")`],
    ["open a WebSocket", `new WebSocket("ws://127.0.0.1:8080/")`],
  ])("do not allow to %s, with a message for the val's author", async (_, code) => {
    const guest = await startVal(`export default async () => { ${code} }`, { isHttp: false })
    const { name, message } = await guest.callError([])
    expect([name, message]).toEqual([
      "TypeError",
      expect.stringMatching(/^Cannot reach the network: .+ bubblewrap$/),
    ])
  })

  test("allow files in the scratch folder", async () => {
    const code = `export default (folder: string) => { Deno.writeTextFileSync(folder + "/scratch/x", "kept"); return Deno.readTextFileSync(folder + "/scratch/x") }`
    const guest = await startVal(code, { isHttp: false })
    expect(await guest.call([guest.folder])).toMatchObject({ value: "kept" })
  })
})

describe("process.loadEnvFile", () => {
  test("sets the variables of the val that it has not set, and fails without the file", async () => {
    const code = `import { writeFileSync } from "node:fs"
      export default () => {
        writeFileSync(".env", "A=1\\nB='x y' # z\\nC=3")
        process.loadEnvFile()
        let missing; try { process.loadEnvFile("missing.env") } catch ({ code }) { missing = code }
        return [process.env.A, Deno.env.get("B"), process.env.C, missing]
      }`
    const guest = await startVal(code, { isHttp: false, env: { C: "kept" } })
    expect((await guest.call()).value).toEqual(["1", "x y", "kept", "ENOENT"])
  })
})

describe("hideMachine", () => {
  test("gives fixed values instead of those of the host", async () => {
    const code = `import os, { hostname, release, totalmem } from "node:os"
    export default () => ({
      deno: [Deno.hostname(), Deno.osRelease(), Deno.uid(), Deno.gid(), Deno.loadavg(), Deno.systemMemoryInfo().total, Deno.networkInterfaces().length, Deno.execPath(), typeof Deno.osUptime()],
      os: [os.hostname(), hostname(), os.release(), release(), os.version(), totalmem(), os.freemem(), os.loadavg(), Object.keys(os.networkInterfaces()), os.cpus().length, os.availableParallelism(), os.userInfo().username, typeof os.uptime()],
      process: [process.getuid(), process.geteuid(), process.getgid(), process.getegid(), process.getgroups(), process.memoryUsage().rss > 1_000_000, process.execPath, process.argv],
      folders: [os.homedir() === process.env.HOME, os.tmpdir() === process.env.TMPDIR, process.cwd() === process.env.HOME, Deno.cwd() === process.cwd()],
      cores: navigator.hardwareConcurrency,
    })`
    const guest = await startVal(code, { isHttp: false })
    const [memory, load] = [256 * 1024 ** 2, [0, 0, 0]]
    expect((await guest.call()).value).toEqual({
      deno: ["val", "6.1.0", 1000, 1000, load, memory, 1, "deno", "number"],
      os: [
        "val",
        "val",
        "6.1.0",
        "6.1.0",
        "6.1.0",
        memory,
        memory / 2,
        load,
        ["lo"],
        2,
        2,
        "val",
        "number",
      ],
      process: [
        1000,
        1000,
        1000,
        1000,
        [1000],
        true,
        "deno",
        ["deno", "http://localhost:8080/v/ada/hello@3-main/main.tsx"],
      ],
      folders: [true, true, true, true],
      cores: 2,
    })
  })
})
