import { describe, expect, test } from "bun:test"
import { readdirSync } from "node:fs"
import { hamletPath } from "../support/processes.ts"
import { useStage } from "../support/shared-stage.ts"

/** A call of each shape of commands, and of each command with logic of its own. */
const calls: readonly (readonly string[])[] = [
  ["whoami"],
  ["open"],
  ["val", "list"],
  ["val", "new", "x", "-f", "-"],
  ["val", "show", "x"],
  ["val", "edit", "x"],
  ["val", "push", "x.ts"],
  ["val", "pull", "x"],
  ["val", "clone"],
  ["val", "watch", "vals", "--once"],
  ["val", "rm", "x", "--yes"],
  ["val", "open", "x"],
  ["val", "comment", "x", "y"],
  ["usage"],
  ["version", "show", "x"],
  ["version", "diff", "x"],
  ["version", "rm", "x", "1", "--yes"],
  ["run", "x"],
  ["run", "logs", "01890000-0000-7000-8000-000000000000"],
  ["run", "replay", "01890000-0000-7000-8000-000000000000"],
  ["logs"],
  ["secret", "set", "X"],
  ["backup", "x.backup"],
  ["export", "x.zip"],
  ["import", "."],
]

const sentence = /^Cannot [^\n]+; [^\n]+\n$/

describe("failures", () => {
  const stage = useStage()

  const all = async (
    call: (args: readonly string[]) => Promise<{ exit: number; stdout: string; stderr: string }>,
  ) => {
    const results: unknown[] = []
    // Two at a time, so that it does not take for ever on a small machine and does not hog it
    // either.
    for (let index = 0; index < calls.length; index += 2) {
      const pair = calls.slice(index, index + 2).map(async (args) => {
        const { exit, stdout, stderr } = await call(args)
        return [args.join(" "), exit, stdout, sentence.test(stderr) || stderr] as const
      })
      results.push(...(await Promise.all(pair)))
    }
    return results
  }

  test("an invalid token ends every command with 3 and one sentence", async () => {
    const nobody = await stage().holder("not-a-token-of-anybody-0123456789")
    await Bun.write(`${nobody.folder}/x.ts`, "1")
    const results = await all((args) => nobody.hamlet(args, { input: "x" }))
    expect(results).toEqual(calls.map((args) => [args.join(" "), 3, "", true]))
    expect(readdirSync(nobody.folder).filter((name) => name.includes("x."))).toEqual(["x.ts"])
  })

  test("a token without the scope ends every command with 3 and names the scope", async () => {
    const ada = await stage().person("scopeless")
    const { token } = await ada.client.createToken({ name: "little", scopes: ["blob:read"] })
    const little = await stage().holder(token)
    for (const args of [
      ["val", "list", "--everybody"],
      ["run", "list"],
      ["secret", "list"],
      ["token", "list"],
    ])
      expect(await little.hamlet(args)).toMatchObject({
        exit: 3,
        stdout: "",
        stderr: expect.stringMatching(/required permissions.+:read.+; .+"hamlet token new"/),
      })
  })

  test("an unreachable server ends a command with 6 and one sentence", async () => {
    const ada = await stage().holder(stage().admin.token)
    // A free port may be taken a moment later; port 1 never listens.
    const env = { HAMLET_URL: "http://localhost:1", HAMLET_TOKEN: "x" }
    const results = await Promise.all(
      [["whoami"], ["val", "list"], ["run", "x/y"], ["val", "push", "x.ts"]].map((args) =>
        ada.hamlet(args, { env }),
      ),
    )
    await Bun.write(`${ada.folder}/x.ts`, "1")
    results.push(await ada.hamlet(["val", "push", "x.ts", "x.ts"], { env }))
    expect(
      results.map(({ exit, stdout, stderr }) => [exit, stdout, sentence.test(stderr)]),
    ).toEqual([
      [6, "", true],
      [6, "", true],
      [6, "", true],
      [4, "", false],
      [6, "", true],
    ])
  })

  test("another program at the URL is not accepted as a server", async () => {
    using other = Bun.serve({
      port: 0,
      fetch: () =>
        new Response("<h1>Welcome to the Wi-Fi</h1>", { headers: { "content-type": "text/html" } }),
    })
    const env = { HAMLET_URL: `http://localhost:${other.port}`, HAMLET_TOKEN: "x" }
    expect(await stage().admin.hamlet(["whoami"], { env })).toMatchObject({
      exit: 1,
      stdout: "",
      stderr: expect.stringContaining("Hamlet server?"),
    })
  })

  test("blob get leaves a whole file or none, and can be repeated", async () => {
    const ada = await stage().person("downloader")
    const whole = "x".repeat(100_000)
    let isBroken = true
    using other = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        data(socket) {
          const head = `HTTP/1.1 200 OK\r\ncontent-length: ${whole.length}\r\nconnection: close\r\n\r\n`
          socket.end(head + (isBroken ? whole.slice(0, 9_000) : whole))
        },
      },
    })
    const env = { HAMLET_URL: `http://127.0.0.1:${other.port}`, HAMLET_TOKEN: "x" }
    const get = () => ada.hamlet(["blob", "get", "key", "-o", "out.bin"], { env })
    expect(await get()).toMatchObject({
      exit: 6,
      stdout: "",
      stderr: expect.stringContaining("connection was lost"),
    })
    expect(readdirSync(ada.folder)).toEqual([])
    isBroken = false
    expect(await get()).toMatchObject({ exit: 0, stdout: "out.bin\n" })
    expect(await Bun.file(`${ada.folder}/out.bin`).text()).toBe(whole)
    expect(readdirSync(ada.folder)).toEqual(["out.bin"])
  })

  test("an invalid command line ends with 2 and points to the help", async () => {
    const table: readonly (readonly [args: readonly string[], advice: string])[] = [
      [["val", "lst"], "hamlet val --help"],
      [["vals"], "hamlet --help"],
      [["val", "list", "--frob"], "hamlet val list --help"],
      [["val", "show"], "hamlet val show --help"],
      [["val", "rename", "a"], "hamlet val rename --help"],
      [["whoami", "extra"], "hamlet whoami --help"],
      [["completion", "tcsh"], "hamlet completion --help"],
    ]
    for (const [args, advice] of table)
      expect([args, await stage().admin.hamlet(args)]).toEqual([
        args,
        {
          exit: 2,
          stdout: "",
          stderr: expect.stringMatching(
            new RegExp(`^Cannot parse the command line: .+; "${advice}" shows the usage\n$`),
          ),
        },
      ])
    expect(await stage().admin.hamlet(["val"])).toMatchObject({
      exit: 2,
      stdout: "",
      stderr: expect.stringContaining("Usage: hamlet val"),
    })
  })

  test("serve prints the server's error for unknown flags, with its exit code", async () => {
    expect(await stage().admin.hamlet(["serve", "--frobnicate", "--json"])).toMatchObject({
      exit: 1,
      stderr: expect.stringContaining("--frobnicate"),
    })
  })

  test("Ctrl-C ends a command that waits for a response, with 130", async () => {
    const { promise: isAsked, resolve } = Promise.withResolvers<void>()
    using silent = Bun.serve({
      port: 0,
      idleTimeout: 0,
      fetch() {
        resolve()
        return new Promise(() => {})
      },
    })
    await using waiting = stage().admin.start(["whoami"], {
      env: { HAMLET_URL: `http://localhost:${silent.port}`, HAMLET_TOKEN: "x" },
    })
    await isAsked
    waiting.signal("SIGINT")
    expect(await waiting.ended()).toEqual({ exit: 130, stdout: "", stderr: "" })
  })

  test("a closed pipe ends the program without a message", async () => {
    const ada = await stage().person("pipe1")
    await ada.client.createVal({ name: "long", code: "x".repeat(250_000) })
    const env = { ...process.env, HAMLET_CONFIG_DIR: ada.configDir } as Record<string, string>
    const ended = Bun.spawnSync(
      ["sh", "-c", '{ "$0" val show long --code; echo "exit $?" >&2; } | head -c 1', hamletPath],
      { env },
    )
    expect([ended.stdout.toString(), ended.stderr.toString()]).toEqual(["x", "exit 141\n"])
    const slow = Bun.spawnSync(
      ["sh", "-c", '"$0" val show long --code | { sleep 0.2; wc -c; }', hamletPath],
      { env },
    )
    expect(slow.stdout.toString().trim()).toBe("250000")
  })
})
