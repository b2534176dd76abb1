import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { notRun } from "@hamlet/kit/testing"
import { toModule, type ValProbe } from "../probes/val-probe.ts"
import { AttackServer, type ReceivedResponse, type SavedVal } from "./attack-server.ts"

/** Includes the time that a probe waits for others to finish. */
export const probeMsMax = 180_000

/** Defines a suite on a server of its own, which must stop cleanly at the end. */
export function describeAttacks(
  title: string,
  env: Readonly<Record<string, string>>,
  define: (getServer: () => AttackServer) => void,
  prefix: readonly string[] = [],
): void {
  if (!Bun.which("bwrap")) {
    notRun(title, "bubblewrap is not installed")
    return
  }
  describe(title, () => {
    let server: AttackServer | undefined
    const get = () => {
      if (!server) throw new Error("Cannot use the server: the suite has not started yet")
      return server
    }
    beforeAll(async () => {
      server = await AttackServer.open(env, prefix)
    }, probeMsMax)
    afterAll(() => server?.stop())

    define(get)

    test(
      "at the end the server has logged no error, stops on SIGTERM and leaves nothing behind",
      async () => {
        await get().expectHealthy()
        const { left, exitCode, stderr } = await get().stopGracefully()
        expect(left).toEqual([])
        expect(stderr).toBe("")
        expect(get().hamlet.stdout).not.toContain("FORGED")
        expect(exitCode).toBe(0)
      },
      probeMsMax,
    )
  })
}

/** Defines a test of one probe, which runs concurrently with others. */
export function probe(
  getServer: () => AttackServer,
  title: string,
  work: (server: AttackServer) => Promise<void>,
  msMax = probeMsMax,
): void {
  test.concurrent(
    title,
    () =>
      getServer().limitProbes(async () => {
        await work(getServer())
        getServer().resources.recordSometimes(getServer().hamlet.pid)
        await getServer().expectHealthy()
      }),
    msMax,
  )
}

/** Most probes change nothing, so that so many of them can share a process. */
const sharedProbesMax = 16

/** Defines a test for each probe. */
export function probeVals(getServer: () => AttackServer, probes: readonly ValProbe[]): void {
  const shared = probes.filter(canShareVal)
  for (let from = 0; from < shared.length; from += sharedProbesMax)
    probeVal(getServer, shared.slice(from, from + sharedProbesMax))
  for (const alone of probes.filter((candidate) => !canShareVal(candidate)))
    probeVal(getServer, [alone])
}

/**
 * Workers and modules that are loaded stay in the process, and so do changes of the environment; the
 * other two take what was meant for another probe.
 */
const leavesTraces = /Worker|import\((?!"node:)|Deno\.env\.(set|delete)|BroadcastChannel|FsFile/

function canShareVal(candidate: ValProbe): boolean {
  const targets = { dataDir: "", program: "", baseUrl: "", port: 0, neighbourFolder: "" }
  return candidate.ends === undefined && !leavesTraces.test(toModule([candidate], targets))
}

/** Defines a test for each of the probes of one val. */
function probeVal(getServer: () => AttackServer, probes: readonly ValProbe[]): void {
  let saving: Promise<SavedVal> | undefined
  const save = (server: AttackServer) => {
    saving ??= server.save(server.mallory, { code: toModule(probes, server.targets) })
    return saving
  }
  for (const [index, attempt] of probes.entries())
    probe(getServer, `a val tries ${attempt.tries}`, async (server) => {
      const response = await server.request(await save(server), { path: `/${index}` })
      await checkResponse(server, attempt, response)
    })
}

async function checkResponse(
  server: AttackServer,
  attempt: ValProbe,
  response: ReceivedResponse,
): Promise<void> {
  for (const text of server.confidentialTexts) expect(response.text).not.toContain(text)
  // Where both are allowed, chance decides which comes first.
  if (attempt.ends && (response.status === 502 || attempt.gets === undefined)) {
    expect(`${response.status} ${response.text}`).toStartWith("502 ")
    const { status, error } = await server.runOf(response, server.mallory)
    expect(`${status} ${error?.name}: ${error?.message}`).toMatch(attempt.ends)
    return
  }
  if (response.status !== 200) {
    // Only the run says why.
    const { status, error } = await server.runOf(response, server.mallory)
    expect(`${response.status} ${status} ${JSON.stringify(error)}`).toBe("200")
  }
  const { denied, got } = response.json
  if (attempt.denied) expect(denied ?? `it got ${JSON.stringify(got)}`).toMatch(attempt.denied)
  else expect(response.json).toEqual({ got: attempt.gets })
}
