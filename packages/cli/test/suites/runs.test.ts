import { describe, expect, test } from "bun:test"
import { useStage } from "../support/shared-stage.ts"
import type { Person } from "../support/stage.ts"
import { until } from "../support/until.ts"

const missing = "01890000-0000-7000-8000-000000000000"

const codes = {
  args: "export default (...args: unknown[]) => args",
  text: 'export default () => "just text"',
  nothing: "export default () => {}",
  talk: 'export default () => { console.log("first"); console.error("second\\u001b[31m"); return { a: [1] } }',
  fail: 'export default () => { console.log("before"); throw new RangeError("too far") }',
  wait: 'export default async () => { console.log("waiting"); await new Promise((done) => setTimeout(done, 500_000)) }',
}

/** Responds with the request that it got. */
const mirror = `export default async (request: Request) => {
  const { pathname, search } = new URL(request.url)
  const sent = [await request.text(), request.headers.get("x-one"), request.headers.get("authorization")]
  return new Response([request.method, pathname + search, ...sent].filter(Boolean).join(" "))
}`

async function withVals(
  person: Person,
  ...names: readonly (keyof typeof codes)[]
): Promise<Person> {
  for (const name of names)
    await person.client.saveVal({ name, code: codes[name], privacy: "public" })
  return person
}

describe("run, logs", () => {
  const stage = useStage()

  test("run prints only the return value on standard output, and logs on standard error", async () => {
    const ada = await withVals(await stage().person("run1"), "talk", "text", "nothing")
    expect(await ada.hamlet(["run", "talk"])).toEqual({
      exit: 0,
      stdout: '{"a":[1]}\n',
      stderr: "first\nsecond\u001b[31m\n",
    })
    expect(await ada.print(["run", "text"])).toBe("just text\n")
    expect(await ada.print(["run", "nothing"])).toBe("")
    expect(await ada.json(["run", "run1/talk@1"])).toMatchObject([
      {
        status: "succeeded",
        returnValue: { a: [1] },
        logs: [{ message: "first" }, { level: "error" }],
      },
    ])
  })

  test("eval runs an expression, a module and a file once, and saves nothing", async () => {
    const ada = await stage().person("eval1")
    expect(await ada.print(["eval", "6 * 7"])).toBe("42\n")
    expect(await ada.print(["eval", "export default (...args) => args", "1", "two"])).toBe(
      '[1,"two"]\n',
    )
    const thrown = await ada.hamlet([
      "eval",
      "export default () => { throw new RangeError('too far') }",
    ])
    expect(thrown.exit).toBe(7)
    expect(thrown.stderr).toMatch(/too far; see "hamlet run show [0-9a-f-]{36}"/)
    expect((await ada.hamlet(["eval"])).stderr).toContain("pass it as an argument")
    expect((await ada.hamlet(["eval", "-f", "/nowhere/at/all.ts"])).stderr).toContain("Cannot read")
    expect((await ada.client.listMyVals({})).data).toEqual([])
    expect((await ada.client.listMyRuns({})).data.map((run) => run.val.name)).toEqual([
      "eval",
      "eval",
      "eval",
    ])
  })

  test("run passes arguments, and refuses invalid ones", async () => {
    const ada = await withVals(await stage().person("run2"), "args")
    const input = "some\ntext\n"
    const args = ["run", "args", "first", "x={}", "__proto__=1", "-", "--", "-1", "--json"]
    expect(JSON.parse(await ada.print(args, { input }))).toEqual([
      "first",
      JSON.parse('{"x":{},"__proto__":1}'),
      input,
      -1,
      "--json",
    ])
    for (const invalid of ["{a:1}", "--unknown"])
      expect((await ada.hamlet(["run", "args", invalid])).exit).toBe(2)
  })

  test("run sets the exit code by outcome, and prints the error on standard error", async () => {
    const ada = await withVals(await stage().person("run3"), "fail")
    const { exit, stdout, stderr } = await ada.hamlet(["run", "fail"])
    expect([exit, stdout]).toEqual([7, ""])
    expect(stderr).toMatch(
      /^before\nCannot finish run3\/fail@1: it failed: RangeError: too far; see "hamlet run show [\w-]+"\n {4}at /,
    )
    const code = "export default ( => 1"
    await ada.client.createVal({ name: "invalid", code })
    expect((await ada.hamlet(["run", "invalid"])).stderr).toMatch(
      /\n +\| +~~\nSee "hamlet run show [\w-]+"\n {4}at run3\/invalid\.tsx:1:18\n$/,
    )
    expect((await ada.hamlet(["eval", code])).stderr).toMatch(/~~\nSee "hamlet run show [\w-]+"\n$/)
    expect(await ada.hamlet(["run", "fail", "--json"])).toMatchObject({
      exit: 7,
      stdout: expect.stringContaining('"status":"failed"'),
    })
    expect(await ada.hamlet(["run", "nothing_there"])).toMatchObject({ exit: 4, stdout: "" })
    expect((await ada.hamlet(["run"])).exit).toBe(2)
  })

  test("Ctrl-C cancels the run, at a terminal and as a signal", async () => {
    const ada = await withVals(await stage().person("run4"), "wait")
    await using interrupted = ada.start(["run", "wait"])
    await interrupted.waitFor(/waiting/)
    interrupted.signal("SIGINT")
    expect(await interrupted.ended()).toMatchObject({
      exit: 130,
      stdout: "",
      stderr: expect.stringMatching(/^waiting\nCancelled run \S+\n$/),
    })
    await using typed = ada.atTerminal(["run", "wait"])
    await typed.waitFor(/waiting/)
    typed.type("\x03")
    expect((await typed.ended()).exit).toBe(130)
    // The end of a cancelled run is recorded a little later.
    const statuses = async () => (await ada.client.listMyRuns()).data.map(({ status }) => status)
    await until(
      async () => (await statuses()).join() === "cancelled,cancelled",
      "two cancelled runs",
    )
  })

  test("run --detach, list, show, logs -f, cancel and replay", async () => {
    const ada = await withVals(await stage().person("run5"), "wait", "talk", "fail")
    const id = (await ada.print(["run", "--detach", "wait"])).trim()
    await using following = ada.start(["run", "logs", "-f", id])
    await following.waitFor(/^waiting\n/)
    expect(await ada.print(["run", "cancel", id])).toBe("cancelled\n")
    expect(await following.ended()).toMatchObject({ exit: 0, stdout: "waiting\n" })
    expect(await ada.json(["run", "cancel", id])).toEqual([{ id, found: false }])
    expect(await ada.hamlet(["run", "replay", missing])).toMatchObject({
      exit: 4,
      stderr: expect.stringContaining('"hamlet run list"'),
    })

    expect(await ada.hamlet(["run", "--retries", "11", "talk"])).toMatchObject({ exit: 2 })
    // So many retries that it has not ended when it is cancelled, however slow the machine is.
    const retried = (await ada.print(["run", "--detach", "--retries", "10", "fail"])).trim()
    const attempt = async () => (await ada.client.getRun({ run_id: retried })).attempt
    await until(async () => (await attempt()) > 1, "the second attempt")
    expect((await ada.json(["run", "show", retried]))[0].attempt).toBeGreaterThan(1)
    expect(await ada.print(["run", "cancel", retried])).toBe("cancelled\n")
    const status = async () => (await ada.client.getRun({ run_id: retried })).status
    await until(async () => (await status()) === "cancelled", "the end of the cancelled run")

    const [talked] = await ada.json(["run", "talk"])
    expect(await ada.hamlet(["run", "replay", talked.id])).toMatchObject({
      exit: 0,
      stdout: '{"a":[1]}\n',
    })
    await ada.hamlet(["run", "fail"])
    const runs = await ada.json(["run", "list"])
    expect(runs.map(({ val, status }) => `${val.name} ${status}`)).toEqual([
      "fail failed",
      "talk succeeded",
      "talk succeeded",
      "fail cancelled",
      "wait cancelled",
    ])
    expect(runs[1].parentId).toBe(talked.id)
    expect((await ada.print(["run", "list", "--failed", "fail"])).split("\t").slice(1, 4)).toEqual([
      "run5/fail@1",
      "failed",
      "api",
    ])
    expect(
      (
        await ada.json([
          "run",
          "list",
          "talk",
          "-n",
          "1",
          "--succeeded",
          "--source",
          "api",
          "--since",
          "1h",
        ])
      ).length,
    ).toBe(1)
    expect(await ada.json(["run", "list", "--until", "2020-01-01"])).toEqual([])
    expect((await ada.hamlet(["run", "list", "--since", "yesterday"])).exit).toBe(2)
    expect((await ada.hamlet(["run", "list", "--failed", "--succeeded"])).exit).toBe(2)

    expect(await ada.print(["run", "show", talked.id])).toMatch(
      /^run\t\S+\nval\trun5\/talk@1\nstatus\tsucceeded\n[\s\S]+\nvalue\t\{"a":\[1\]\}\n/,
    )
    expect(await ada.json(["run", "show", talked.id])).toMatchObject([
      { id: talked.id, returnValue: { a: [1] } },
    ])
    expect(await ada.json(["run", "logs", talked.id])).toMatchObject([
      { level: "log", message: "first" },
      { level: "error" },
    ])
    for (const verb of ["show", "logs", "cancel"])
      expect((await ada.hamlet(["run", verb, missing])).exit).toBe(4)
    expect((await ada.hamlet(["run", "show", "1"])).exit).toBe(2)
  })

  test("run replay changes the arguments, the version, and all of a request", async () => {
    const ada = await withVals(await stage().person("run6"), "args")
    const [called] = await ada.json(["run", "args", "1"])
    await ada.client.saveVal({ name: "args", code: "export default () => 'second'" })
    const replay = (...options: readonly string[]) =>
      ada.hamlet(["run", "replay", called.id, ...options])
    expect(await replay("--args", '[2, "x"]')).toMatchObject({ exit: 0, stdout: '[2,"x"]\n' })
    expect(await replay("--version", "2")).toMatchObject({ exit: 0, stdout: "second\n" })
    expect((await replay("--version", "9")).exit).toBe(4)
    for (const wrong of [
      ["--args", "{}"],
      ["--args", "[1"],
      ["--version", "0"],
      ["--header", "nothing"],
    ])
      expect((await replay(...wrong)).exit).toBe(2)
    expect(await replay("--path", "/x")).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("no request started the run"),
    })

    const page = await ada.client.createVal({ name: "mirror", code: mirror, type: "http" })
    const request = { method: "POST", path: "/a", body: "one" }
    const { runId } = await ada.client.sendValRequest({ val_id: page.id, ...request })
    const send = async (...options: readonly string[]) => {
      const [run] = await ada.json(["run", "replay", runId ?? "", ...options])
      expect(run.parentId).toBe(runId)
      return run.responseContent.body
    }
    expect(await send()).toBe("POST /a one")
    expect(await send("--method", "PUT", "--path", "/b?c", "--body", "two")).toBe("PUT /b?c two")
    const headers = ["--header", "x-one: 1", "--header", "Authorization: Basic x:y"]
    expect(await send(...headers)).toBe("POST /a one 1 Basic x:y")
  })

  test("run list finds runs by status and text", async () => {
    const ada = await withVals(await stage().person("run7"), "talk", "fail")
    for (const name of ["talk", "fail"]) await ada.hamlet(["run", name])
    const list = async (...options: readonly string[]) =>
      (await ada.json(["run", "list", ...options])).map(({ val }) => val.name)
    expect(await list("--status", "failed", "crashed")).toEqual(["fail"])
    expect(await list("--status", "succeeded", "--status", "failed")).toEqual(["fail", "talk"])
    expect(await list("--text", "TOO FAR")).toEqual(["fail"])
    expect(await list("talk", "--text", "second")).toEqual(["talk"])
    expect(await list("--text", "nothing like that")).toEqual([])
    expect((await ada.hamlet(["run", "list", "--status", "done"])).exit).toBe(2)
  })

  test("logs shows the latest runs with their failures, of all vals or of one", async () => {
    const ada = await withVals(await stage().person("logs1"), "talk", "fail", "text")
    for (const name of ["talk", "fail", "text"]) await ada.hamlet(["run", name])
    const rows = (await ada.print(["logs"])).split("\n").map((line) => line.split("\t"))
    expect(rows.map(([, val, , level, message]) => [val, level, message])).toEqual([
      ["logs1/talk@1", "log", "first"],
      ["logs1/talk@1", "error", "second␛[31m"],
      ["logs1/fail@1", "log", "before"],
      ["logs1/fail@1", "failed", "RangeError: too far"],
      [undefined, undefined, undefined],
    ])
    expect(
      (await ada.json(["logs", "fail"])).map(({ message, status }) => message ?? status),
    ).toEqual(["before", "failed"])
    expect(await ada.print(["logs", "-n", "0"])).toBe("")
    expect((await ada.hamlet(["logs", "nothing_there"])).exit).toBe(4)
  })

  test("logs -f follows every new run until Ctrl-C", async () => {
    const ada = await withVals(await stage().person("logs2"), "talk", "fail", "wait")
    await ada.hamlet(["run", "talk"])
    await using following = ada.start(["logs", "-f"])
    await following.waitFor(/first/)
    const { id } = await ada.client.createRun(
      { val_id: (await ada.client.getValByName({ username: "logs2", val_name: "wait" })).id },
      { respondAsync: true },
    )
    await following.waitFor(new RegExp(`logs2/wait@1\t${id}\tlog\twaiting`))
    await ada.client.cancelRun({ run_id: id })
    await following.waitFor(new RegExp(`logs2/wait@1\t${id}\tcancelled`))
    await ada.hamlet(["run", "fail"])
    await following.waitFor(/logs2\/fail@1\t\S+\tfailed\tRangeError: too far/)
    following.signal("SIGINT")
    const { exit, stdout } = await following.ended()
    expect([exit, stdout.split("\n").filter((line) => line.includes("first")).length]).toEqual([
      130, 1,
    ])
  })
})
