import { describe, expect, test } from "bun:test"
import type { ServiceStatus } from "../domain/nodes.ts"
import { ServiceWatch } from "./service-watch.ts"

const limits = { pollMs: 60_000, probeMsMax: 20, problemCharsMax: 30 }

function watch(probe: () => Promise<unknown>) {
  const changes: (string | undefined)[] = []
  const service = { name: "bucket", use: "large blobs", probe } as const
  const note = ({ problem }: ServiceStatus) => void changes.push(problem)
  const watched = new ServiceWatch([service], note, () => expect.unreachable(), limits)
  return { watched, changes }
}

describe("ServiceWatch", () => {
  test("tells once that a service is away, and once that it is back", async () => {
    const answers = [() => {}, fail, fail, () => {}, () => {}]
    const { watched, changes } = watch(async () => answers.shift()?.())
    const states: (string | undefined)[] = []
    for (let round = 0; round < 5; round++) {
      await watched.look()
      states.push(...watched.status.map(({ problem }) => problem))
    }
    expect(states).toEqual([
      undefined,
      "it refuses the key",
      "it refuses the key",
      undefined,
      undefined,
    ])
    expect(changes).toEqual(["it refuses the key", undefined])
  })

  test("takes a service that does not respond, or throws at once, for one that is away", async () => {
    for (const probe of [() => new Promise(() => {}), fail]) {
      const { watched, changes } = watch(probe)
      await watched.look()
      expect(changes).toHaveLength(1)
    }
  })

  test("shortens a long problem", async () => {
    const { watched } = watch(() => Promise.reject(new Error("x".repeat(1_000))))
    await watched.look()
    expect(watched.status.map(({ problem }) => problem?.length)).toEqual([30])
  })
})

function fail(): never {
  throw new Error("it refuses the key")
}
