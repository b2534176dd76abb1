import { expect, test } from "bun:test"
import { describeSqlite } from "../support/databases.ts"
import { openServerFixture } from "../support/server-fixture.ts"
import type { Manner } from "./manners/manner.ts"
import { measureDoors } from "./measure/measure-doors.ts"
import { worldSizes } from "./world/world-limits.ts"
import { worstDoors } from "./worst-doors.ts"
import { openWorstStage } from "./worst-stage.ts"

/** What once kept a server busy, or made it grow: the part of `worst` that a brief run has. */
const chosen: readonly (readonly [name: string, manner: Manner])[] = [
  ["endpoint /oauth/token", "pieces"],
  ["route putSecret", "pieces"],
  ["tool create_val 1", "pieces"],
  ["egress fetchesAnswers", "pieces"],
  ["WebSocket frames of one byte", "whole"],
  ["route listVals 1", "many"],
  ["route listVersions", "many"],
  ["route searchVals 1", "unread"],
  ["tool list_my_vals 1", "many"],
  ["route restoreFiles", "whole"],
]
const testMsMax = 290_000

describeSqlite("worst", (open) => {
  test(
    "the largest legal input keeps the server busy in no manner, and does not make it grow",
    async () => {
      await using fixture = await openServerFixture(open)
      await using worst = await openWorstStage(fixture, worldSizes.brief)
      const pairs = chosen.map(([name, manner]) => {
        const door = worstDoors.find((door) => door.name === name)
        if (!door) throw new Error(`Cannot find door "${name}"`)
        return [door, manner] as const
      })
      const rows = await measureDoors(worst, pairs, { isTimed: false })
      expect(rows.flatMap(({ door, problems }) => problems.map((it) => `${door}: ${it}`))).toEqual(
        [],
      )
    },
    testMsMax,
  )
})
