import type { Stage } from "../freeze/door.ts"
import { type OpenStage, openStage } from "../freeze/stage.ts"
import type { ServerFixture } from "../support/server-fixture.ts"
import { OutsideRelay } from "./manners/outside-relay.ts"
import { OtherUserProcess } from "./measure/other-user-process.ts"
import { otherUserVal } from "./measure/other-user-window.ts"
import { buildWorld } from "./world/build-world.ts"
import type { World } from "./world/world.ts"
import type { WorldSizes } from "./world/world-limits.ts"

/** The proxy of the server says from which address a request comes. */
const addressHeader = "x-client-address"
const addresses = { worst: "192.0.2.1", other: "192.0.2.2" }
const ordinaryVals = 20

/** The server in a world in which everything is as large as it may be, and another user. */
export interface WorstStage extends AsyncDisposable {
  readonly stage: OpenStage
  readonly world: World
  readonly outside: OutsideRelay
  readonly other: OtherUserProcess
}

export async function openWorstStage(
  fixture: ServerFixture,
  sizes: WorldSizes,
): Promise<WorstStage> {
  let outside: OutsideRelay | undefined
  const stage = await openStage(fixture, {
    env: { HAMLET_ADDRESS_HEADER: addressHeader },
    headers: { [addressHeader]: addresses.worst },
    toOutsideUrl: async (url) => {
      outside = await OutsideRelay.open(url)
      return outside.url
    },
  })
  if (!outside) throw new Error("Cannot use the server outside: it has not been started")
  const relay = outside
  const db = await fixture.connect()
  const world = await buildWorld(stage.client, db, sizes).finally(() => db.stop())
  const other = await openOtherUser(stage)
  return {
    stage,
    world,
    outside,
    other,
    async [Symbol.asyncDispose]() {
      await other[Symbol.asyncDispose]()
      relay[Symbol.dispose]()
      await stage[Symbol.asyncDispose]()
    },
  }
}

async function openOtherUser({ client, host, pid }: Stage & { readonly pid: number }) {
  const [, port = ""] = host.split(":")
  const { token } = await client.createUser({ username: "bob" })
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    [addressHeader]: addresses.other,
  }
  const save = async (name: string, code: string, type: "http" | "script") => {
    const response = await fetch(`http://${host}/v1/vals`, {
      method: "POST",
      headers,
      body: JSON.stringify({ name, code, type, privacy: "public" }),
    })
    const { id } = (await response.json()) as { readonly id: string }
    return id
  }
  for (let number = 0; number < ordinaryVals; number++)
    await save(`ordinary${number}`, `export const number = ${number}`, "script")
  await save("page", otherUserVal, "http")
  return new OtherUserProcess({
    port: Number(port),
    pid,
    headers,
    valId: await save("changing", "export const number = 0", "script"),
    host: `bob-page.localhost:${port}`,
  })
}
