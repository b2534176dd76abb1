import { roles } from "@hamlet/contract/lists"
import { CliError } from "../../cli-error.ts"
import type { Verbs } from "../../command.ts"
import { toFutureMoment } from "../../runs/since.ts"
import type { Connection } from "../../servers/connection.ts"
import { confirm, confirmOption, defineCall, defineList, listOptions } from "../../shapes.ts"
import { members } from "./members.ts"

const takesOrg = { "<org>": "name or id of the organisation" } as const

export const verbs: Verbs = {
  list: defineList({
    summary: "List the organisations you belong to",
    description: "Shows your role in each, and the invitations that wait for you.",
    examples: [["hamlet org list", "your organisations"]],
    takes: listOptions,
    items: ({ client }, _, page) => client.items("listMyMemberships", page),
    empty: "No organisations",
    columns: [
      { title: "org", value: ({ org }) => org.username, paint: (colour) => colour.bold },
      { title: "role", value: ({ role }) => role },
      { title: "state", value: ({ pending }) => (pending ? "invited" : "member") },
      { title: "since", value: ({ createdAt }) => createdAt, isTime: true },
      { title: "id", value: ({ org }) => org.id, isWhole: true },
    ],
  }),
  new: defineCall({
    summary: "Create an organisation, which you own",
    description:
      "Vals, secrets and data can belong to it. Use --owner with any command to act for it.",
    examples: [
      ["hamlet org new acme", "create an organisation"],
      ["hamlet val list --owner acme", "its vals"],
    ],
    takes: { "<name>": "name of the organisation", "--bio <text>": "what it says about itself" },
    async call({ client }, { name, bio }) {
      const org = await client.createOrganisation({ username: name, bio })
      return { json: org, plain: org.username, human: `Created ${org.username}` }
    },
  }),
  show: defineCall({
    summary: "Show an organisation",
    examples: [["hamlet org show acme", "its people, and your role"]],
    takes: takesOrg,
    async call(session, { org }) {
      const found = await session.client.getOrganisation({ org_id: await findOrg(session, org) })
      return {
        json: found,
        fields: [
          ["name", found.username],
          ["role", found.role],
          ["members", String(found.members)],
          ["bio", found.bio],
          ["id", found.id],
          ["url", found.url],
        ],
      }
    },
  }),
  rm: defineCall({
    summary: "Delete an organisation and all that it owns",
    description: "Its vals, data and runs are deleted for good. Only its owners can.",
    examples: [["hamlet org rm acme", "delete it, after you confirm"]],
    takes: { ...takesOrg, ...confirmOption },
    async call(session, { org, yes }) {
      const { client } = session
      const { id: org_id, username } = await client.getOrganisation({
        org_id: await findOrg(session, org),
      })
      await confirm(`Delete ${username} with all its vals and data?`, { yes })
      await client.deleteOrganisation({ org_id, confirm: username })
      return { json: { id: org_id, deleted: true }, plain: username, human: `Deleted ${username}` }
    },
  }),
  accept: defineCall({
    summary: "Accept the invitation of an organisation",
    examples: [["hamlet org accept acme", 'join it (see "hamlet org list")']],
    takes: takesOrg,
    async call(session, { org }) {
      const org_id = await findOrg(session, org)
      await session.client.acceptMembership({ org_id })
      return { json: { id: org_id, accepted: true }, plain: org_id, human: `Joined ${org}` }
    },
  }),
  decline: defineCall({
    summary: "Decline the invitation of an organisation",
    examples: [["hamlet org decline acme", "decline it"]],
    takes: takesOrg,
    async call(session, { org }) {
      const org_id = await findOrg(session, org)
      await session.client.declineMembership({ org_id })
      return { json: { id: org_id, declined: true }, plain: org_id, human: `Declined ${org}` }
    },
  }),
  join: defineCall({
    summary: "Join an organisation with the link of an invitation",
    examples: [["hamlet org join https://hamlet.example/join#code=…", "join it"]],
    takes: { "<link>": "link of the invitation, or its code" },
    async call({ client }, { link }) {
      const code = link.split("#code=").at(-1) ?? link
      const org = await client.joinOrganisation({ code })
      return { json: org, plain: org.username, human: `Joined ${org.username} as ${org.role}` }
    },
  }),
  invite: defineCall({
    summary: "Create a link that leads one person into an organisation",
    description: "The link works once, for 72 hours unless you set --expires.",
    examples: [
      ["hamlet org invite acme --role member", "a link for one person"],
      ["hamlet org invite acme --role viewer --email ida@example.com", "for that address only"],
    ],
    takes: {
      ...takesOrg,
      "-r, --role <role>": { help: "role of the person", choices: roles, isMandatory: true },
      "--email <address>": "the only confirmed address that may accept",
      "--expires <time>": { help: "when it expires: 12h, 30d or a date", parse: toFutureMoment },
    },
    async call(session, { org, role, email, expires }) {
      const created = await session.client.createOrgInvitation({
        org_id: await findOrg(session, org),
        role,
        email,
        expiresAt: expires,
      })
      return {
        json: created,
        plain: created.url,
        note: `The link works once, until ${created.expiresAt}. It will not be shown again`,
      }
    },
  }),
  ...members(findOrg),
}

/** The id of an organisation that the user belongs to or is invited to, by name or id. */
async function findOrg({ client }: Pick<Connection, "client">, text: string): Promise<string> {
  const wanted = text.replace(/^@/, "").toLowerCase()
  for await (const { org } of client.items("listMyMemberships", { limit: 100 }))
    if (org.id === wanted || org.username.toLowerCase() === wanted) return org.id
  throw new CliError("notFound", `Cannot find organisation "${text}": you do not belong to it`, {
    advice: 'see "hamlet org list"',
  })
}
