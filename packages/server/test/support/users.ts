import type { Database } from "@hamlet/database"
import { makeToken } from "../../src/domain/accounts/tokens.ts"
import { createUserStore } from "../../src/storage/accounts/users.ts"

/** Adds a user for a test that needs an owner and nothing else. Gives the id. */
export async function addUser(db: Database, username: string): Promise<string> {
  const id = Bun.randomUUIDv7()
  const deps = { newId: () => Bun.randomUUIDv7(), now: () => 1 }
  const { record } = makeToken(deps, id, {
    name: "first token",
    scopes: ["val:read"],
    expiresAt: null,
  })
  await createUserStore(db).add(
    {
      id,
      username,
      email: null,
      isEmailVerified: false,
      bio: null,
      profileImageUrl: null,
      tier: null,
      isOrg: false,
      createdAt: 1,
    },
    record,
  )
  return id
}
