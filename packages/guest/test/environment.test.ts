import { afterEach, describe, expect, test } from "bun:test"
import { startVal, stopVals } from "./support/vals.ts"

afterEach(stopVals)

const imports = `import process, { env as named } from "node:process"\n`
const env = { API_KEY: "secret ✓", HAMLET_URL: "http://localhost:8080" }

describe("setEnvironment", () => {
  test("shows the val its own variables only, whichever API it uses", async () => {
    const code = `${imports}export default () => ({
      get: [Deno.env.get("API_KEY"), Deno.env.get("HOST_ONLY"), Deno.env.get("DENO_DIR")], has: [Deno.env.has("API_KEY"), Deno.env.has("toString")],
      all: Deno.env.toObject(), node: [process.env.API_KEY, process.env.HOST_ONLY, "API_KEY" in process.env, Object.keys(process.env)],
      named: [named.API_KEY, named.HOST_ONLY, Object.keys(named)], spread: { ...process.env },
    })`
    const guest = await startVal(code, { isHttp: false, env })
    expect((await guest.call()).value).toEqual({
      get: [env.API_KEY, null, null],
      has: [true, false],
      all: env,
      node: [env.API_KEY, null, true, Object.keys(env)],
      named: [env.API_KEY, null, Object.keys(env)],
      spread: env,
    })
  })

  test.each([
    [`Deno.env.set("A", "b")`, "set"],
    [`Deno.env.delete("A")`, "delete"],
    [`process.env.A = "b"`, "set"],
    [`delete process.env.A`, "delete"],
    [`Object.assign(process.env, { A: "b" })`, "set"],
    [`Object.defineProperty(process.env, "A", { value: "b" })`, "set"],
    [`named.A = "b"`, "set"],
    [`new Function("env", "env.A = 'b'")(process.env)`, "set"],
  ])("refuses %s", async (code, what) => {
    const guest = await startVal(`${imports}export default () => { ${code} }`, {
      isHttp: false,
      env,
    })
    const message = `Cannot ${what} environment variable "A": the environment of a val is read-only`
    expect((await guest.call()).error).toMatchObject({ name: "TypeError", message })
  })

  test("shows a worker the same", async () => {
    const code = `export default () => new Promise((resolve) => {
      const worker = new Worker("data:text/javascript,postMessage(Deno.env.toObject())", { type: "module" })
      worker.onmessage = ({ data }) => { worker.terminate(); resolve(data) }
    })`
    const guest = await startVal(code, { isHttp: false, env })
    expect((await guest.call()).value).toEqual(env)
  })

  test("accepts names that the operating system refuses", async () => {
    const guest = await startVal(`export default () => Deno.env.toObject()`, {
      isHttp: false,
      env: { "A=B": "1", "": "2", C: "nul\0" },
    })
    expect((await guest.call()).value).toEqual({ "A=B": "1", "": "2", C: "nul\0" })
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
  test.each([
    ["to open a connection", `await Deno.connect({ hostname: "127.0.0.1", port: 80 })`],
    ["to listen", `Deno.listen({ port: 0 })`],
    [
      "to open the control socket again",
      `await Deno.connect({ transport: "unix", path: folder + "/sockets/control.sock" })`,
    ],
    [
      "to open its own socket",
      `await Deno.connect({ transport: "unix", path: folder + "/sockets/in.sock" })`,
    ],
    ["to read the folder of the sockets", `[...Deno.readDirSync(folder + "/sockets")]`],
    ["to remove a socket", `Deno.removeSync(folder + "/sockets/in.sock")`],
    ["to read elsewhere", `Deno.readTextFileSync("/etc/passwd")`],
    ["to run a program", `new Deno.Command("/bin/ls").outputSync()`],
    ["to load a library", `Deno.dlopen("libc.so.6", {})`],
    [
      "to ask for more",
      `if ((await Deno.permissions.request({ name: "net" })).state !== "granted") throw new Deno.errors.NotCapable("no")`,
    ],
  ])("do not allow %s", async (_, code) => {
    const guest = await startVal(`export default async (folder: string) => { ${code} }`, {
      isHttp: false,
    })
    expect(["NotCapable", "PermissionDenied"]).toContain(
      (await guest.callError([guest.folder])).name,
    )
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
