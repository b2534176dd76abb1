import type { Door } from "../freeze/door.ts"
import { doorGroups, libsqlDoorNames } from "../freeze/doors.ts"
import { ownDoors } from "./inputs/own-doors.ts"
import { worstRouteDoors } from "./inputs/route-doors.ts"
import type { Connections } from "./manners/connections.ts"
import { exchange } from "./manners/exchange.ts"
import { type Manner, manners } from "./manners/manner.ts"
import { openManneredStage } from "./manners/mannered-stage.ts"
import type { WorstStage } from "./worst-stage.ts"

/** A way into the server, and the manners in which its input can be sent. */
export interface WorstDoor {
  readonly name: string
  readonly manners: readonly Manner[]
  /** One client: sends the input. Throws if the server fails, or refuses what is legal. */
  drive(stage: WorstStage, manner: Manner, connections: Connections): Promise<void>
}

/** The server asks, and a hostile server answers: no client leaves an answer unread. */
const answering = new Set(["sockets and answers", "answers of a libSQL server"])
/**
 * Tables of requests to routes: they have the largest input that is not legal; the one of this test
 * has those that are.
 */
const isOfRoutes = /routes$|^other requests$/

const routes: readonly WorstDoor[] = worstRouteDoors.map(({ name, also, isPublic, toRequest }) => ({
  name,
  manners,
  async drive({ stage, world }, manner, connections) {
    const [, port = ""] = stage.host.split(":")
    const { authorization, ...others } = stage.headers
    const request = toRequest(world)
    const headers = { ...(isPublic ? others : stage.headers), ...request.headers }
    const { status, text } = await exchange(
      connections,
      Number(port),
      { ...request, headers },
      manner,
    )
    if (status === 500 || (manner === "whole" && !isExpected(status, also)))
      throw new Error(
        `${request.method} ${request.path.slice(0, 100)}: ${status} ${text.split("\r\n\r\n")[1]?.slice(0, 300)}`,
      )
  },
}))

function isExpected(status: number | undefined, also: readonly number[]): boolean {
  return status !== undefined && (status < 400 || also.includes(status))
}

/** Every way into the server, with its largest legal input. */
export const worstDoors: readonly WorstDoor[] = [
  ...routes,
  ...Object.entries(doorGroups).flatMap(([group, doors]) =>
    doors
      .filter((door) => !isOfRoutes.test(group) || door.name.startsWith("mergeBranch: texts"))
      .map((door) => toWorstDoor(door, group)),
  ),
  ...ownDoors.map((door) => toWorstDoor(door, "own")),
]

function toWorstDoor(door: Door, group: string): WorstDoor {
  return {
    name: door.name,
    manners: answering.has(group) ? manners.filter((manner) => manner !== "unread") : manners,
    async drive({ stage, outside }, manner, connections) {
      outside.manner = manner
      await using mannered = await openManneredStage(stage, manner, connections)
      await door.drive(mannered)
    },
  }
}

/** Doors that need the libSQL server, which PostgreSQL comes with. */
export function isForPostgres(door: WorstDoor): boolean {
  return libsqlDoorNames.has(door.name)
}

/** The name of a door as a word, for the command line. */
export function toSlug(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "")
}
