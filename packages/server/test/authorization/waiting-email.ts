import type { TestApi, TestUser } from "../support/api.ts"

/** Adds an email that waits: the server of the test sends none. */
export async function addWaitingEmail(api: TestApi, user: TestUser): Promise<string> {
  const { emails } = api.hamlet.parts.outboundMail
  const id = api.hamlet.nouns.clock.newId()
  await emails.add(
    {
      id,
      accountId: user.id,
      kind: "api",
      runId: null,
      val: null,
      from: "a@hamlet.test",
      recipients: ["b@hamlet.test"],
      subject: "",
      createdAt: Date.now(),
      content: new TextEncoder().encode('{"from":null,"to":null,"subject":""}'),
    },
    { recipientsPerDay: undefined, bytesPerDay: undefined, storedBytesMax: 1_000_000 },
  )
  return id
}
