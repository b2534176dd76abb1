import { expect, test } from "bun:test"
import { createClient } from "@hamlet/contract/client"
import { describeSqlite } from "../support/databases.ts"
import { chosenToken, openServerFixture } from "../support/server-fixture.ts"

describeSqlite("hamlet admin-token", (open) => {
  test("creates a token while the server runs, and records it in the audit log", async () => {
    await using fixture = await openServerFixture(open)
    const { baseUrl } = await fixture.serve()
    const lost = createClient({ baseUrl, token: chosenToken })
    const bob = await lost.createUser({ username: "bob" })
    await lost.suspendUser({ user_id: bob.id })
    const me = await lost.getMe()
    for (const { id } of (await lost.listTokens()).data)
      await lost.revokeToken({ token_id: id }).catch(() => {})

    const { exitCode, stdout, stderr } = await fixture.run(["admin-token"])
    expect([exitCode, stderr]).toEqual([
      0,
      expect.stringContaining(`A token of user "${me.username}"`),
    ])
    const found = createClient({ baseUrl, token: stdout.trim() })
    expect((await found.getMe()).id).toBe(me.id)
    const { data } = await found.listAuditEntries({ action: "token.create" })
    expect(data[0]).toMatchObject({
      actor: { id: null, username: "operator" },
      subject: { id: me.id },
    })

    // A name may be said, also of a user who is suspended.
    const bobs = await fixture.run(["admin-token", "bob"])
    expect(bobs.stderr).toContain('User "bob" is no longer suspended')
    expect(
      (await createClient({ baseUrl, token: bobs.stdout.trim() }).listUsers()).data.length,
    ).toBe(2)
    // A name that nobody has is told.
    expect(await fixture.run(["admin-token", "nobody"])).toMatchObject({
      exitCode: 1,
      stderr: 'Cannot find user "nobody"\n',
    })
  })
})

test("hamlet admin-token creates no server in an empty folder", async () => {
  await using fixture = await openServerFixture()
  const { exitCode, stderr } = await fixture.run(
    ["admin-token", "--data-dir", `${fixture.dataDir}/nothing`],
    { HAMLET_DATABASE_URL: "" },
  )
  expect([exitCode, stderr]).toEqual([
    1,
    `Cannot make a token: there is no database "${fixture.dataDir}/nothing/hamlet.db"\n`,
  ])
})
