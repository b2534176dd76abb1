import { expect, test } from "bun:test"
import { join } from "node:path"
import { hasLibsql, startLibsql } from "@hamlet/owner-databases/testing"
import { version as ownVersion } from "../../package.json"
import { describePostgres } from "../support/databases.ts"
import type { HamletProcess } from "../support/processes/hamlet-process.ts"
import {
  hasPreviousRelease,
  previousRelease,
  unpackPreviousRelease,
} from "../support/processes/previous-release.ts"
import { chosenToken, openEmpty, openServerFixture } from "../support/server-fixture.ts"
import {
  allExchanges,
  exchange,
  expectTicks,
  type Peer,
  quickExchanges,
  setStage,
  toPeer,
} from "./exchanges.ts"

const { version, commit } = previousRelease()
const title = `nodes of ${version}`
const testMsMax = 600_000

if (!hasPreviousRelease())
  // The test cannot run in a tarball or a shallow clone, and CI may have one: not a failure there.
  test.skipIf(true)(`${title} (this copy has no commit ${commit})`, () => {})
else if (hasLibsql(title))
  describePostgres(title, (open) => {
    test(
      "work beside nodes of this release while those migrate, after it, and when they start again",
      async () => {
        await using previous = await unpackPreviousRelease()
        await using libsql = await startLibsql()
        await using fixture = await openServerFixture(openEmpty(open))
        const start = (name: string, program?: string) =>
          fixture.start(
            ["serve", "--data-dir", join(fixture.dataDir, name)],
            { ...libsql.env, ...settings },
            program,
          )
        const oldNode = start("old", previous.program)
        const old = await connect(oldNode, version)
        const stage = await setStage(old)
        const during = async <T>(work: Promise<T>, peer: Peer): Promise<T> => {
          let isOver = false
          const working = work.finally(() => {
            isOver = true
          })
          working.catch(() => {})
          while (!isOver) await exchange(quickExchanges, [[peer, peer]], stage)
          return working
        }

        const newNode = start("new")
        const here = await during(connect(newNode, ownVersion), old)
        await exchange(
          allExchanges,
          [
            [old, here],
            [here, old],
          ],
          stage,
        )

        oldNode.signal("SIGTERM")
        const { exitCode } = await during(oldNode.ended(), here)
        expect(exitCode).toBe(0)
        const oldAgain = start("old", previous.program)
        const again = await during(connect(oldAgain, version), here)
        await exchange(
          allExchanges,
          [
            [again, here],
            [here, again],
          ],
          stage,
        )
        await expectTicks(again, stage)
        const nodes = [oldNode, newNode, oldAgain]
        expect(nodes.flatMap(({ stderr }) => stderr.match(/.*"level":"error".*/g) ?? [])).toEqual(
          [],
        )
      },
      testMsMax,
    )
  })

const settings = {
  HAMLET_TOKEN: chosenToken,
  HAMLET_SECRET_KEY: Buffer.alloc(32, 5).toString("base64"),
  HAMLET_RATE_PER_ADDRESS: "none",
  HAMLET_RATE_PER_TOKEN: "none",
  HAMLET_RUNS_PER_MINUTE: "none",
  // Everything happens at once.
  HAMLET_DATABASE_CONNECTIONS_MAX: "8",
}

/** Waits for the node, and asserts that it is ready and of that release. */
async function connect(node: HamletProcess, release: string): Promise<Peer> {
  const baseUrl = await node.listening()
  const { port } = new URL(baseUrl)
  const ready = await fetch(`${baseUrl}/readyz`)
  expect({ status: ready.status, ...(await ready.json()) }).toMatchObject({
    status: "ok",
    version: release,
  })
  return toPeer(baseUrl, (name) => `ada-${name}.localhost:${port}`)
}
