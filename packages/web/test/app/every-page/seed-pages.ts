import { type AppStage, actFor, type Person } from "../../../dev/app-stage.ts"

/** A user with content on every page, a new user, and the paths of their pages. */
export interface SeededPages {
  readonly ada: Person
  readonly newcomer: Person
  /** An owner of an organisation who acts for it. */
  readonly grace: Person
  /** A viewer there, who is also invited elsewhere. */
  readonly viewer: Person
  readonly orgName: string
  /** The name of the val with content in every tab. */
  readonly name: string
  readonly otherName: string
  readonly webhookId: string
  readonly deliveryId: string
  readonly runIds: Readonly<Record<"succeeded" | "failed" | "loud" | "mail" | "request", string>>
}

// The longest names: 48 characters for a val or a branch, 30 for a user.
const longName = "a_val_whose_name_is_as_long_as_names_can_be_x123"
const longUser = "somebody_with_a_name_of_30_chr"
const longOrg = "an_organisation_of_30_letters_"

const code = `/** Says which numbers it was given. */
export default function (...numbers: number[]) {
  console.log("given", numbers, ${JSON.stringify("a line that goes on and on ".repeat(12))})
  console.error("that is all")
  if (numbers.length === 0) throw new TypeError("no number was given, and a message can be as long as it likes: ${"x".repeat(160)}")
  return numbers.map((number) => ({ number, square: number ** 2, note: "x".repeat(60) }))
}
`

const mailCode = `export default (email: { subject: string }) => console.log("got", email.subject)\n`

const readme = `# What it does

Squares **numbers**. See [the docs](https://example.com) and \`Deno.env\`.

| number | square | ${"a wide column | ".repeat(9)}
|---|---|${"---|".repeat(9)}
| 1 | 1 | ${"and what is in it | ".repeat(9)}

\`\`\`ts
const squares = await fetch("https://example.com/a/very/long/address/that/does/not/end/before/the/right/side/of/a/phone")
\`\`\`

> A quote, and a word without an end: ${"endless".repeat(30)}
`

/** A val whose branch has changes, one of which conflicts with `main`. */
async function seedBranches({ client }: Person): Promise<void> {
  const { id } = await client.createVal({ name: "branched", code: "export default 1\n" })
  const path = `${"directory/".repeat(5)}notes.txt`
  const write = (branchId: string, content: string) =>
    client.changeFiles({
      val_id: id,
      branch_id: branchId,
      note: "endless".repeat(20),
      changes: [{ path, content }],
    })
  await write(id, "first\n")
  const branch = await client.createBranch({ val_id: id, name: longName })
  await write(branch.id, `of the branch ${"endless".repeat(30)}\n`)
  await write(id, "of main\n")
  for (const other of ["a.txt", "b.txt", "moved.txt"])
    await client.createFile({ val_id: id, path: other, type: "file", content: "pushed" })
}

/** An organisation with a val, people and invitations, and another one that invites. */
async function seedOrganisations(stage: AppStage) {
  const grace = await stage.person("grace")
  const viewer = await stage.person("viewer")
  const org = await grace.client.createOrganisation({
    username: longOrg,
    bio: "endless".repeat(40),
  })
  await actFor(stage, grace, longOrg).createVal({ name: longName, code, privacy: "private" })
  const other = await grace.client.createOrganisation({ username: "inviting" })
  const { id } = await viewer.client.getMe()
  await grace.client.putOrgMember({ org_id: org.id, user_id: id, role: "viewer" })
  await viewer.client.acceptMembership({ org_id: org.id })
  await grace.client.putOrgMember({ org_id: other.id, user_id: id, role: "member" })
  const { id: pendingId } = await stage.admin.client.getMe()
  await grace.client.putOrgMember({ org_id: org.id, user_id: pendingId, role: "owner" })
  const email = `${"long".repeat(15)}@example.com`
  await grace.client.createOrgInvitation({ org_id: org.id, role: "member", email })
  return { grace, viewer, orgName: longOrg }
}

/** Creates content for every page. */
export async function seedPages(stage: AppStage): Promise<SeededPages> {
  const [ada, other, newcomer] = [
    await stage.person("ada"),
    await stage.person(longUser),
    await stage.person("newcomer"),
  ]
  const { client } = ada
  await seedBranches(ada)
  const people = await seedOrganisations(stage)
  const val = await client.createVal({
    name: longName,
    code: "export default 1\n",
    privacy: "public",
    readme,
  })
  await client.createVersion({ val_id: val.id, code: code.replace("Says", "Tells") })
  await client.createVersion({ val_id: val.id, code })
  const page = await client.createVal({
    name: "page",
    code: `export default () => new Response("<h1>Hello</h1>", { headers: { "content-type": "text/html" } })\n`,
    type: "http",
    privacy: "private",
  })
  const several = await client.createVal({ name: "several", code: "export default 1\n" })
  await client.changeFiles({
    val_id: several.id,
    branch_id: several.id,
    changes: ["a_folder/a_file_of_a_folder.ts", `${longName}_as_a_file.ts`].map((path) => ({
      path,
      type: "script" as const,
      content: "export const value = 1\n",
    })),
  })
  await Promise.all(
    Array.from({ length: 12 }, (_, index) =>
      client.createVal({ name: `val_${index}`, code: `export default ${index}\n` }),
    ),
  )
  const importer = await other.client.createVal({
    name: longName,
    code: `import it from "${val.links.module}"\nexport default it\n`,
    privacy: "public",
  })
  await other.client.likeVal({ val_id: val.id })
  await client.likeVal({ val_id: importer.id })
  await other.client.createComment({
    val_id: val.id,
    comment: `Thanks!\n\n- one\n- two\n\n${"endless".repeat(40)}`,
  })
  await client.createComment({ val_id: val.id, comment: "You are **welcome**" })
  await client.updateMe({
    bio: `Writes notes on engines. ${"endless".repeat(30)}`,
    email: "ada@example.com",
  })
  for (const name of ["laptop", "a token whose name is long: ".repeat(3).trim()])
    await client.createToken({ name, scopes: ["val:read", "run:read"] })
  await client.putSecret({ name: "API_KEY", value: "x" })
  await client.putSecret({
    name: `A_${"LONG_".repeat(20)}NAME`,
    value: "x",
    hosts: ["api.example.com", `${"long-".repeat(11)}host.example.com`],
  })
  const ticks = await client.createVal({
    name: "ticks",
    code: "export default 1",
    type: "interval",
  })
  await client.putSchedule({ val_id: ticks.id, cron: "0 9 * * 1-5", timeZone: "Europe/Berlin" })
  const hook = await client.createWebhook({
    url: `https://receiver.invalid/${"long".repeat(40)}`,
    events: ["run.failed", "comment.created"],
    description: "For the log",
  })
  const { id: deliveryId } = await client.testWebhook({ webhook_id: hook.id })
  const inbox = await client.createVal({ name: "inbox", code: mailCode, type: "email" })
  const mailRun = await client.sendTestEmail({ val_id: inbox.id, subject: "endless".repeat(40) })
  await client.sendEmail({ to: "bob@example.com", subject: `Daily report ${"endless".repeat(40)}` })
  await client.batchSql({
    statements: [
      "create table links (slug text primary key, url text, visits integer)",
      "create view popular as select * from links where visits > 10",
      `insert into links values ('a', 'https://example.com/${"long".repeat(60)}', 12), ('b', null, 0)`,
    ],
  })
  await client.putBlob({ key: "notes/today.json", content: '{"seeded":true}' })
  await client.putBlob({ key: `notes/${"long".repeat(40)}`, content: "x" })
  const { runId = null } = await client.sendValRequest({
    val_id: page.id,
    method: "POST",
    path: `/${"long/".repeat(30)}`,
    headers: { "x-long": "endless".repeat(30) },
    body: "seeded",
  })
  const run = async (...args: unknown[]) => (await client.createRun({ val_id: val.id, args })).id
  return {
    ada,
    newcomer,
    ...people,
    name: longName,
    otherName: longUser,
    webhookId: hook.id,
    deliveryId,
    runIds: {
      succeeded: await run(1, 2),
      failed: await run(),
      loud: await run(3),
      mail: mailRun.id,
      request: runId ?? "",
    },
  }
}
