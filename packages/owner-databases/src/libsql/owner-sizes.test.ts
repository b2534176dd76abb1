import { describe, expect, test } from "bun:test"
import { libsqlLimits } from "../database-limits.ts"
import { OwnerSizes } from "./owner-sizes.ts"

const limits = { ...libsqlLimits, recordMs: 60_000 }

describe("OwnerSizes", () => {
  test("knows a size that is recorded while the registry is read", async () => {
    const ownerId = Bun.randomUUIDv7()
    let bytes = 1
    const registry = {
      async listOf() {
        const databases = [{ ownerId, bytes }]
        await sizes.stop()
        return databases
      },
      async setBytes(databases: readonly { readonly bytes: number }[]) {
        for (const database of databases) bytes = database.bytes
      },
    }
    const sizes = new OwnerSizes(registry, limits, (error) => expect(error).toBeUndefined())
    sizes.note({ ownerId }, 2)
    expect(await sizes.read(ownerId)).toEqual([{ ownerId, bytes: 2 }])
    expect(bytes).toBe(2)
  })
})
