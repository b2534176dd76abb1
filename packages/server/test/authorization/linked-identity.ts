import type { TestApi, TestUser } from "../support/api.ts"

/** Links a person at a provider to a user, as if the person had signed in there. Gives the id. */
export async function addIdentity(
  { hamlet }: Pick<TestApi, "hamlet">,
  { id: userId, username }: Pick<TestUser, "id" | "username">,
): Promise<string> {
  const { newId, now } = hamlet.nouns.clock
  const id = newId()
  const at = now()
  const person = { issuer: "https://id.example", subject: id, email: null, scopes: [] }
  const hash = Buffer.from(id.replaceAll("-", ""), "hex").toString("hex").padEnd(64, "0")
  await hamlet.stores.identities.link(
    { id, userId, createdAt: at, ...person },
    { hash, expiresAt: at + 60_000 },
    1_000,
    {
      id: newId(),
      at,
      action: "identity.link",
      details: {},
      actor: { actorId: userId, actorName: username },
      subject: { id: userId, name: username },
    },
  )
  return id
}
