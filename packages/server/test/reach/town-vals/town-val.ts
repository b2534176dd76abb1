import { expect } from "bun:test"
import type {
  AttackServer,
  ReceivedResponse,
  SavedVal,
} from "../../attacks/support/attack-server.ts"
import { whenFetched } from "../when-fetched.ts"

/** A val as people write it for Val Town, and what it must do here without a change. */
export interface TownVal {
  /** The year of its style and what it does. */
  readonly title: string
  readonly type: "http" | "script"
  /** If others import it, or it prints its own name. */
  readonly name?: string
  readonly readme?: string
  readonly code: string
  readonly check: (use: TownValUse) => Promise<void>
}

/** A saved val in use. */
export interface TownValUse {
  readonly server: AttackServer
  readonly val: SavedVal
  /** Requests its web address, and expects status 200. */
  get(path?: string, init?: RequestInit): Promise<ReceivedResponse>
  /** Runs it with arguments, expects success, and returns its return value and logs. */
  run(...args: unknown[]): Promise<{
    // biome-ignore lint/suspicious/noExplicitAny: whatever the val returns
    readonly returned: any
    readonly logs: readonly string[]
  }>
}

/** Saves a val and puts it to use. */
export async function useTownVal(server: AttackServer, given: TownVal): Promise<TownValUse> {
  const { name, type, code, readme } = given
  const val = await server.save(server.ada, { code, type, ...(name === undefined ? {} : { name }) })
  if (readme !== undefined)
    await server.call("PUT", `/v1/vals/${val.id}`, { as: server.ada, body: { readme } })
  await whenFetched(server, val)
  return {
    server,
    val,
    async get(path = "/", init = {}) {
      const response = await server.request(val, { path, ...(init as object) })
      if (response.status !== 200) {
        const { error } = await server.runOf(response, server.ada)
        throw new Error(
          `${response.status} ${response.text.slice(0, 300)} ${JSON.stringify(error)}`,
        )
      }
      return response
    },
    async run(...args) {
      const { id, status, error } = await server.run(val, args)
      expect({ status, error }).toEqual({ status: "succeeded", error: null })
      const { returnValue, logs } = await server.endedRun(id, server.ada)
      return {
        returned: returnValue,
        logs: logs.map(({ message }: { message: string }) => message),
      }
    },
  }
}
